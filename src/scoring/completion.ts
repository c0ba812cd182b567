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

const THINK = 'think'
const ANSWER = 'answer'
const SLASH = '/'.charCodeAt(0)
const CLOSE = '>'.charCodeAt(0)
/** Tells small letters of ASCII from capitals. */
const CASE = 0x20

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
  eachTag(completion, THINK, (start, end, closes) => {
    if (open && closes) {
      open = false
      kept = end
    } else if (!open && !closes) {
      text += completion.slice(kept, start)
      open = opened = true
    } else if (closes && !opened) {
      kept = end // the opening tag was in the prompt
    }
  })
  return { text: open ? text : text + completion.slice(kept), cut: open }
}

function readStrict(text: string, cut: boolean): Reading {
  let openings = 0
  let closings = 0
  let from = 0
  let to = 0
  eachTag(text, ANSWER, (start, end, closes) => {
    if (closes) {
      closings++
      to = start
    } else {
      openings++
      from = end
    }
  })
  if (openings === 0) return fault(cut ? 'unclosed_think' : 'no_answer')
  if (openings > closings) return fault('unclosed_answer')
  return openings === 1 && closings === 1 && from <= to ? answer(text.slice(from, to)) : fault('many_answers')
}

function readLastTag(text: string, cut: boolean): Reading {
  let opening = -1 // where the nearest answer begins
  let from = -1
  let to = -1
  eachTag(text, ANSWER, (start, end, closes) => {
    if (!closes) opening = end
    else [from, to] = [opening, start]
  })
  if (from >= 0) return answer(text.slice(from, to))
  if (opening >= 0) return fault('unclosed_answer')
  return fault(cut ? 'unclosed_think' : 'no_answer')
}

/**
 * Calls back for each tag in turn, without making an object of it: a megabyte may hold 125,000. A search for `<` passes
 * over text ten times as fast as a pattern does.
 */
function eachTag(text: string, name: string, onTag: (start: number, end: number, closes: boolean) => void): void {
  for (let start = text.indexOf('<'); start >= 0; start = text.indexOf('<', start + 1)) {
    const closes = text.charCodeAt(start + 1) === SLASH
    const from = start + (closes ? 2 : 1)
    if (isNamed(text, from, name)) onTag(start, from + name.length + 1, closes)
  }
}

/** Whether a tag's name, in any letter case, and its end stand at a place. */
function isNamed(text: string, from: number, name: string): boolean {
  if (text.charCodeAt(from + name.length) !== CLOSE) return false
  for (let k = 0; k < name.length; k++) if ((text.charCodeAt(from + k) | CASE) !== name.charCodeAt(k)) return false
  return true
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
