/**
 * Measures one task at one config, for its card. Guesses are chosen on some items and measured on others, so that the best of
 * many is not the luckiest of many.
 */
import type { Config } from '../../src/contract/recipe.ts'
import type { TaskCard } from '../../src/contract/task.ts'
import type { DatasetPosition, Engine } from '../../src/engine/engine.ts'
import { getCorrectAnswer } from '../../src/mock-model/answers.ts'
import { NATIVE_TASKS } from '../../src/scorers/native-scorers.ts'
import { type HardenedItem, makeHardenedItems } from '../../verification/reward-hacks/hardened-item.ts'
import type { Strategy } from '../../verification/reward-hacks/strategies.ts'
import { buildGuesses } from './guesses.ts'
import { NearestQuestion } from './nearest-question.ts'

type ByScoring = TaskCard['guess_floor']
type Scoring = keyof ByScoring

/** How many items each part of a card takes; a Python worker scores a thousand times slower than this process. */
interface SampleSizes {
  screened: number
  keptGuesses: number
  measured: number
  references: number
}
const NATIVE_SIZES: SampleSizes = { screened: 30, keptGuesses: 8, measured: 200, references: 200 }
const PYTHON_SIZES: SampleSizes = { screened: 6, keptGuesses: 6, measured: 24, references: 100 }

const ITEMS = 1000
const ORACLE_ITEMS = 50
const ITEMS_PER_CALL = 40
/** Past this time a slow task makes no more items than its card needs. */
const MAKE_BUDGET_MS = 20_000
const MIN_ITEMS = 120
/** Past this time it makes no more at all. */
const MAKE_LIMIT_MS = 120_000
const FIRST_SEED = 500_000_000
/** Tasks that make a list when they are built know only its indexes; the others take any seed. */
const INDEXED_TASKS: ReadonlySet<string> = new Set(['acre', 'gsm_symbolic', 'list_functions', 'word_ladder'])

export async function measureTaskCard(engine: Engine, task: string, config: Config): Promise<TaskCard> {
  const canonical = await engine.canonicalizeConfig(task, config)
  const { items, makeMs } = await makeItems(engine, task, canonical)
  if (items.length === 0) throw new Error(`${task}: no item could be made at ${JSON.stringify(config)}`)
  const sizes = NATIVE_TASKS.has(task) ? NATIVE_SIZES : PYTHON_SIZES
  const references = items.slice(0, Math.min(sizes.references, Math.floor(items.length / 2)))
  const others = items.slice(references.length)
  const screened = others.slice(0, Math.min(sizes.screened, Math.floor(others.length / 3)))
  const measured = others.slice(screened.length, screened.length + sizes.measured)
  const answers = references.map((item) => ({ question: item.question, answer: item.entry.answer }))
  const guesses = buildGuesses(task, answers, 1)
  const floor = {
    upstream: await findBestGuess(guesses, screened, measured, sizes.keptGuesses, 'upstream'),
    hardened: await findBestGuess(guesses, screened, measured, sizes.keptGuesses, 'hardened'),
  }
  return {
    items: items.length,
    measured: measured.length,
    guess_floor: { upstream: round(floor.upstream.mean), hardened: round(floor.hardened.mean) },
    guess_floor_stderr: { upstream: round(floor.upstream.stderr), hardened: round(floor.hardened.stderr) },
    best_guess: { upstream: floor.upstream.name, hardened: floor.hardened.name },
    lookup_floor: await measureAnswers(measured, createLookup(references)),
    prior: round(computePrior(items)),
    distinct_in_1000: estimateDistinct(items.map(({ question }) => question)),
    best_attainable: await measureAnswers(measured.slice(0, ORACLE_ITEMS), ({ entry }) =>
      getCorrectAnswer({ task, ...entry }),
    ),
    make_ms: round(makeMs / items.length),
  }
}

async function makeItems(engine: Engine, task: string, config: Config) {
  const items: HardenedItem[] = []
  const began = performance.now()
  const elapsed = () => performance.now() - began
  for (let k = 0; k < ITEMS; k += ITEMS_PER_CALL) {
    if (elapsed() > MAKE_LIMIT_MS || (elapsed() > MAKE_BUDGET_MS && items.length >= MIN_ITEMS)) break
    const positions = Array.from(
      { length: ITEMS_PER_CALL },
      (_, i): DatasetPosition => (INDEXED_TASKS.has(task) ? [FIRST_SEED, k + i] : [FIRST_SEED + k + i, 0]),
    )
    items.push(...(await makeHardenedItems(engine, task, config, positions)))
  }
  return { items, makeMs: elapsed() }
}

interface GuessFloor {
  name: string
  mean: number
  stderr: number
}

async function findBestGuess(
  guesses: readonly Strategy[],
  screened: readonly HardenedItem[],
  measured: readonly HardenedItem[],
  kept: number,
  scoring: Scoring,
): Promise<GuessFloor> {
  const screening = await scoreGuesses(guesses, screened, scoring)
  const order = guesses.map((guess, k) => ({ guess, mean: computeMean(screening[k] ?? []) }))
  const best = order.toSorted((a, b) => b.mean - a.mean).slice(0, kept)
  const scores = await scoreGuesses(best.map(({ guess }) => guess), measured, scoring) // biome-ignore format: one step
  return best
    .map(({ guess }, k) => ({
      name: guess.name,
      mean: computeMean(scores[k] ?? []),
      stderr: computeStderr(scores[k] ?? []),
    }))
    .reduce((top, guess) => (guess.mean > top.mean ? guess : top))
}

/** For each guess its score on each item. */
async function scoreGuesses(guesses: readonly Strategy[], items: readonly HardenedItem[], scoring: Scoring) {
  const scores: number[][] = guesses.map(() => [])
  for (const item of items) {
    const answers = guesses.map((guess) => guess.answer(item.question))
    const scored = await scoreAnswers(item, answers, scoring)
    for (const [k, score] of scored.entries()) scores[k]?.push(clamp(score))
  }
  return scores
}

/** The mean score of one answer for each item; without an answer it is 0. */
async function measureAnswers(
  items: readonly HardenedItem[],
  answer: (item: HardenedItem) => string | undefined,
): Promise<ByScoring> {
  const sums = { upstream: 0, hardened: 0 }
  for (const item of items) {
    const text = answer(item)
    if (text === undefined) continue
    for (const scoring of ['upstream', 'hardened'] as const) {
      sums[scoring] += clamp((await scoreAnswers(item, [text], scoring))[0] ?? 0) / items.length
    }
  }
  return { upstream: round(sums.upstream), hardened: round(sums.hardened) }
}

function scoreAnswers(item: HardenedItem, answers: readonly string[], scoring: Scoring): Promise<number[]> {
  return scoring === 'upstream' ? item.scoreUpstream(answers) : item.score(answers)
}

function createLookup(references: readonly HardenedItem[]): (item: HardenedItem) => string | undefined {
  const nearest = new NearestQuestion(references.map(({ question }) => question))
  return (item) => references[nearest.find(item.question) ?? -1]?.entry.answer ?? undefined
}

/** The share of the most common right answer. */
function computePrior(items: readonly HardenedItem[]): number {
  const answers = items.flatMap(({ entry }) => (entry.answer === null ? [] : [entry.answer.trim()]))
  const counts = Map.groupBy(answers, (answer) => answer)
  return Math.max(0, ...[...counts.values()].map((same) => same.length)) / items.length
}

/**
 * How many of 1,000 questions differ. Fewer items than that are taken for draws from a pool of equally likely questions, whose
 * size follows from the pairs that are equal (one more is added, since none may only be luck).
 */
export function estimateDistinct(questions: readonly string[]): number {
  const n = questions.length
  const counts = Map.groupBy(questions, (question) => question)
  if (n >= 1000) return Math.round((1000 * counts.size) / n)
  const equalPairs = [...counts.values()].reduce((sum, { length }) => sum + (length * (length - 1)) / 2, 0)
  const pool = (n * (n - 1)) / 2 / (equalPairs + 1)
  return Math.max(counts.size, Math.round(pool * (1 - Math.exp(-1000 / pool))))
}

const computeMean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/** At least one item's share, since equal scores of few items do not mean that all are equal. */
function computeStderr(scores: readonly number[]): number {
  const mean = computeMean(scores)
  const squares = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0)
  return Math.max(Math.sqrt(squares) / scores.length, 1 / (scores.length + 1))
}

const clamp = (score: number) => Math.min(1, Math.max(0, score))
const round = (value: number) => Number(value.toFixed(3))
