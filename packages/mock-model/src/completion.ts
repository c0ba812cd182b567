/** Generates a sample: its tokens, with the reasoning and the answer, and where it is truncated. */
import { getCorrectAnswer, WRONG_ANSWER } from './answers.ts'
import { drawOutcome, hashToUnitInterval, type MockModelBehavior, type SampleOutcome } from './behavior.ts'
import type { KnownItem } from './item-lookup.ts'

const VOCABULARY_SIZE = 151_000
const TOKEN_PATTERN = /\s?[\p{L}\p{N}]{1,6}|\s?[^\s\p{L}\p{N}]|\s/gu

/** A mock tokenizer: splits a text into pieces of at most six characters, which joined give the text. */
export function tokenize(text: string): string[] {
  return text.match(TOKEN_PATTERN) ?? []
}

/** FNV-1a hash, so that equal pieces have equal IDs. */
export function getTokenId(piece: string): number {
  let hash = 0x811c9dc5
  for (let k = 0; k < piece.length; k++) hash = Math.imul(hash ^ piece.charCodeAt(k), 0x01000193)
  return (hash >>> 0) % VOCABULARY_SIZE
}

/** A negative log probability, mostly close to 0, as of a confident model. */
export function getTokenLogprob(seed: number, sample: number, position: number, piece: string): number {
  const draw = hashToUnitInterval(seed, sample, position, piece)
  return Number((Math.log(1 - 0.9 * draw ** 3) - 1e-4).toFixed(6))
}

export interface MockCompletion {
  outcome: SampleOutcome
  content: string
  /** Reasoning for a field of its own, or null. */
  reasoning: string | null
  finish_reason: 'stop' | 'length'
  tokens: string[]
}

const THINKING_WORDS =
  'so we take the first part and check it again then add what is left to the next one but not twice'.split(' ')

/** Generates a completion for an item or an unknown question, truncated after `maxTokens`. */
export function generateCompletion(
  behavior: MockModelBehavior,
  item: KnownItem | undefined,
  sample: number,
  maxTokens = Number.POSITIVE_INFINITY,
): MockCompletion {
  const outcome = item ? drawOutcome(behavior, item, sample) : ({ kind: 'wrong' } as const)
  const right = item && outcome.kind !== 'wrong' ? getCorrectAnswer(item) : undefined
  const thinking = generateThinking(behavior, item, sample)
  const all = tokenize(
    formatCompletion(outcome, right ?? WRONG_ANSWER, behavior.reasoning === 'none' ? null : thinking),
  )
  const length = outcome.kind === 'truncated' ? Math.ceil(all.length / 2) : all.length // before `</answer>`
  const tokens = all.slice(0, Math.min(length, maxTokens))
  const text = tokens.join('')
  return {
    outcome: getActualOutcome(outcome, right !== undefined, tokens.length < all.length),
    ...(behavior.reasoning === 'inline' || behavior.reasoning === 'none'
      ? { content: text, reasoning: null }
      : splitThinking(text)),
    finish_reason: tokens.length < all.length ? 'length' : 'stop',
    tokens,
  }
}

/** The actual outcome, which differs from the drawn one if no answer is known or the token limit is reached. */
function getActualOutcome(wanted: SampleOutcome, known: boolean, cut: boolean): SampleOutcome {
  if (cut) return { kind: 'truncated' }
  return wanted.kind === 'right' && !known ? { kind: 'wrong' } : wanted
}

function generateThinking(
  { seed, meanTokens }: MockModelBehavior,
  item: KnownItem | undefined,
  sample: number,
): string {
  const draw = (k: number) => hashToUnitInterval(seed, item?.id ?? '', sample, 'thought', k)
  const words = Math.ceil(meanTokens * (0.5 + draw(-1)) * (0.75 + (item?.difficulty ?? 0) / 2))
  return Array.from({ length: words }, (_, k) => THINKING_WORDS[Math.floor(draw(k) * THINKING_WORDS.length)]).join(' ')
}

function formatCompletion(outcome: SampleOutcome, answer: string, thinking: string | null): string {
  const fault = outcome.kind === 'format_fault' ? outcome.fault : undefined
  if (fault === 'unclosed_think' && thinking !== null) return `<think>${thinking} it is ${answer}`
  const before = thinking === null ? '' : `<think>${thinking}</think>\n`
  if (fault === 'unclosed_answer') return `${before}<answer>${answer}`
  if (fault !== undefined) return `${before}The answer is ${answer}.`
  return `${before}<answer>${answer}</answer>`
}

/** Splits a completion like a server with a reasoning parser. Without a closing tag, all of it is reasoning. */
function splitThinking(text: string): { content: string; reasoning: string } {
  const opened = text.replace(/^<think>/, '')
  const end = opened.indexOf('</think>')
  if (end === -1) return { content: '', reasoning: opened }
  return { content: opened.slice(end + '</think>'.length).trimStart(), reasoning: opened.slice(0, end) }
}
