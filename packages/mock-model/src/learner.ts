/** A mock model that learns: its accuracy rises, its format faults fade and its reasoning grows while a run trains it. */
import { getCorrectAnswer, WRONG_ANSWER } from './answers.ts'
import { hashToUnitInterval } from './behavior.ts'
import type { KnownItem } from './item-lookup.ts'

/** How accuracy falls with difficulty: a logistic function that is one half at `midpoint`. */
export interface LearnerSkill {
  midpoint: number
  steepness: number
}

export interface LearnerCompletion {
  completion: string
  length_tokens: number
  finish_reason: 'stop' | 'length'
}

const STEEPNESS = 7
const CHARS_PER_TOKEN = 4
const TRUNCATIONS = 0.02
/** Steps of reasoning of a beginner, and how many more it learns to write. */
const FEWEST_THOUGHTS = 2
const LEARNED_THOUGHTS = 5

const OPENINGS = ['Let me restate the question.', 'I need to be careful with the format.', 'What is asked here?']
const THOUGHTS = [
  'I take the parts one at a time and write down what I know.',
  'The first part looks simple, so I begin with it.',
  'Now I apply the rule to the next part and keep the result.',
  'That leaves the last part, which depends on the others.',
  'Wait, I should check that step again.',
  'Checking backward from the result, the steps agree.',
  'I compare this with the examples in the question.',
  'No other possibility is left, so this must hold.',
]

export function getAccuracyAt({ midpoint, steepness }: LearnerSkill, difficulty: number): number {
  return 1 / (1 + Math.exp(steepness * (difficulty - midpoint)))
}

/** The learner's skill at a task. Each task starts at a level of its own and is learned at its own pace. */
export function getLearnerSkill(task: string, progress: number): LearnerSkill {
  const learned = 1 - (1 - progress) ** (1 + 2 * hashToUnitInterval(task, 'pace'))
  return { midpoint: 0.05 + 0.3 * hashToUnitInterval(task, 'start') + 0.6 * learned, steepness: STEEPNESS }
}

/** Generates a completion. `progress`, from 0 to 1, is the part of the training that is done. */
export function generateLearnerCompletion(item: KnownItem, sample: number, progress: number): LearnerCompletion {
  const draw = (what: string) => hashToUnitInterval(item.id, sample, progress, what)
  const right = getCorrectAnswer(item)
  const isRight = draw('accuracy') < getAccuracyAt(getLearnerSkill(item.task, progress), item.difficulty ?? 0)
  const answer = right === undefined ? WRONG_ANSWER : isRight ? right : misspell(right, draw('place'))
  const thinking = generateThinking(item, progress, draw)
  const isTruncated = draw('truncation') < TRUNCATIONS
  const isMalformed = draw('format') < 0.25 * (1 - progress) ** 3 + 0.01
  const completion = isTruncated
    ? `<think>${thinking.slice(0, Math.ceil(thinking.length / 2))}`
    : `<think>${thinking}</think>\n${isMalformed ? `The answer is ${answer}.` : `<answer>${answer}</answer>`}`
  return {
    completion,
    length_tokens: Math.ceil(completion.length / CHARS_PER_TOKEN),
    finish_reason: isTruncated ? 'length' : 'stop',
  }
}

function generateThinking(item: KnownItem, progress: number, draw: (what: string) => number): string {
  const pick = (from: readonly string[], what: string) => from[Math.floor(draw(what) * from.length)] ?? ''
  const length = (FEWEST_THOUGHTS + LEARNED_THOUGHTS * progress) * (0.5 + draw('length')) * (1 + (item.difficulty ?? 0))
  const thoughts = Array.from({ length: Math.ceil(length) }, (_, k) => pick(THOUGHTS, `thought ${k}`))
  return [pick(OPENINGS, 'opening'), ...thoughts].join('\n')
}

/** A wrong answer that looks like the right one: one letter or digit is different. */
function misspell(text: string, place: number): string {
  const marks = [...text.matchAll(/[\p{L}\p{N}]/gu)]
  const at = marks[Math.floor(place * marks.length)]?.index
  if (at === undefined) return WRONG_ANSWER
  const wrong = replaceMark(text[at] ?? '', place)
  return text.slice(0, at) + wrong + text.slice(at + 1)
}

function replaceMark(mark: string, place: number): string {
  if (/\d/.test(mark)) return String((Number(mark) + 1 + Math.floor(place * 8)) % 10)
  return mark.toLowerCase() === 'q' ? 'x' : 'q'
}
