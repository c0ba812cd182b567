/**
 * The guess floor: the mean score of the best guess. Most guesses are dropped on other items than those of the mean, so that the
 * best of many is not the luckiest of many.
 */
import type { TaskCard } from '@reasoning-gym-server/contract/task'
import type { HardenedItem } from '../../verification/reward-hacks/hardened-item.ts'
import type { Strategy } from '../../verification/reward-hacks/strategies.ts'

export type Scoring = keyof TaskCard['guess_floor']

export interface GuessFloor {
  name: string
  mean: number
  stderr: number
}

export async function measureGuessFloor(
  guesses: readonly Strategy[],
  { screened, measured, kept }: { screened: readonly HardenedItem[]; measured: readonly HardenedItem[]; kept: number },
  scoring: Scoring,
): Promise<GuessFloor> {
  const screening = await scoreGuesses(guesses, screened, scoring)
  const order = guesses.map((guess, k) => ({ guess, mean: computeMean(screening[k] ?? []) }))
  const best = order
    .toSorted((a, b) => b.mean - a.mean)
    .slice(0, kept)
    .map(({ guess }) => guess)
  const scores = await scoreGuesses(best, measured, scoring)
  return best
    .map(({ name }, k) => ({ name, mean: computeMean(scores[k] ?? []), stderr: computeStderr(scores[k] ?? []) }))
    .reduce((top, guess) => (guess.mean > top.mean ? guess : top))
}

/** A prior of less may be luck. */
const MIN_PRIOR = 0.02

/** The most common right answer is a guess too, and known from more items. */
export function raiseToPrior(floor: GuessFloor, prior: number, items: number): GuessFloor {
  if (prior <= floor.mean || prior < MIN_PRIOR) return floor
  return { name: 'most common right answer', mean: prior, stderr: Math.sqrt((prior * (1 - prior)) / items) }
}

/** For each guess its score on each item. */
async function scoreGuesses(guesses: readonly Strategy[], items: readonly HardenedItem[], scoring: Scoring) {
  const scores: number[][] = guesses.map(() => [])
  for (const item of items) {
    const answers = guesses.map((guess) => guess.answer(item.question))
    const different = [...new Set(answers)]
    const scored = await scoreAnswers(item, different, scoring)
    const byAnswer = new Map(different.map((answer, k) => [answer, scored[k] ?? 0]))
    for (const [k, answer] of answers.entries()) scores[k]?.push(byAnswer.get(answer) ?? 0)
  }
  return scores
}

/** Clamped to [0, 1]. */
export async function scoreAnswers(
  item: HardenedItem,
  answers: readonly string[],
  scoring: Scoring,
): Promise<number[]> {
  const scores = scoring === 'upstream' ? await item.scoreUpstream(answers) : await item.score(answers)
  return scores.map((score) => Math.min(1, Math.max(0, score)))
}

export function computeMean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** At least one item's share, since equal scores of few items do not mean that all are equal. */
function computeStderr(scores: readonly number[]): number {
  const mean = computeMean(scores)
  const squares = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0)
  return Math.max(Math.sqrt(squares) / scores.length, 1 / (scores.length + 1))
}
