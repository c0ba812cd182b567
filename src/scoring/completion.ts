/** From a completion to the answer in it. Every reading is one pass: repeated tags cost no more than text. */
import { strip } from '../scorers/python/text.ts'
import type { Extraction, FaultKind } from '../words/verdict.ts'

/** The answer, or the model's fault that there is none. */
export type Reading = { kind: 'answer'; answer: string } | { kind: 'fault'; fault: FaultKind }

/** What is left of a completion once its thinking is gone. */
interface Visible {
  text: string
  /** A `<think>` that nothing closed was cut. */
  cut: boolean
}

const THINK = /<(\/?)think>/gi
const ANSWER = /<(\/?)answer>/gi

export function readCompletion(completion: string, extraction: Extraction): Reading {
  if (extraction === 'bare') return { kind: 'answer', answer: completion }
  return readVisible(withoutThinking(completion), extraction)
}

/** The same for text whose thinking came apart. */
export function readVisible({ text, cut }: Visible, extraction: Exclude<Extraction, 'bare'>): Reading {
  switch (extraction) {
    case 'strict':
      return readStrict(text, cut)
    case 'last_tag':
      return readLastTag(text, cut)
    case 'tag_or_boxed': {
      const reading = readLastTag(text, cut)
      const boxed = reading.kind === 'fault' ? lastBoxed(text) : undefined
      return boxed === undefined ? reading : { kind: 'answer', answer: strip(boxed) }
    }
  }
}

/** Drops `<think>…</think>` from the left, what stands before a `</think>` that nothing opened, and an open end. */
export function withoutThinking(completion: string): Visible {
  let text = ''
  let kept = 0 // where the text that is not yet taken begins
  let open = false
  let opened = false
  for (const { index, 0: tag, 1: slash } of completion.matchAll(THINK)) {
    const closes = slash === '/'
    if (open && closes) {
      open = false
      kept = index + tag.length
    } else if (!open && !closes) {
      text += completion.slice(kept, index)
      open = opened = true
    } else if (closes && !opened) {
      kept = index + tag.length // the opening tag was in the prompt
    }
  }
  return { text: open ? text : text + completion.slice(kept), cut: open }
}

function readStrict(text: string, cut: boolean): Reading {
  const tags = [...text.matchAll(ANSWER)]
  const closings = tags.filter((tag) => tag[1] === '/').length
  const openings = tags.length - closings
  if (openings === 0) return fault(cut ? 'unclosed_think' : 'no_answer')
  if (openings > closings) return fault('unclosed_answer')
  const [first, last] = tags
  if (tags.length === 2 && first && last && first[1] === '' && last[1] === '/') {
    return answer(text.slice(first.index + first[0].length, last.index))
  }
  return fault('many_answers')
}

function readLastTag(text: string, cut: boolean): Reading {
  let opening = -1
  let found: string | undefined
  let openings = 0
  for (const { index, 0: tag, 1: slash } of text.matchAll(ANSWER)) {
    if (slash === '/') {
      found = opening < 0 ? undefined : text.slice(opening, index)
    } else {
      opening = index + tag.length
      openings++
    }
  }
  if (found !== undefined) return answer(found)
  if (openings > 0) return fault('unclosed_answer')
  return fault(cut ? 'unclosed_think' : 'no_answer')
}

/** The content of the `\boxed{…}` that begins last of those whose braces close. */
function lastBoxed(text: string): string | undefined {
  const open: { start: number; boxed: boolean }[] = []
  let best: { start: number; end: number } | undefined
  for (const { index, 0: token } of text.matchAll(/\\boxed\{|\\[{}\\]|[{}]/g)) {
    if (token === '\\boxed{' || token === '{') {
      open.push({ start: index + token.length, boxed: token !== '{' })
    } else if (token === '}') {
      const group = open.pop()
      if (group?.boxed && group.start > (best?.start ?? -1)) best = { start: group.start, end: index }
    }
  }
  return best && text.slice(best.start, best.end)
}

function answer(text: string): Reading {
  return { kind: 'answer', answer: strip(text) }
}

function fault(kind: FaultKind): Reading {
  return { kind: 'fault', fault: kind }
}
