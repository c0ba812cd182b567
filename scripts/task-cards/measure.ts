/** Measures one task at one config, for its card. */
import type { Config } from '@reasoning-gym-server/contract/recipe'
import type { TaskCard } from '@reasoning-gym-server/contract/task'
import { getCorrectAnswer } from '@reasoning-gym-server/mock-model/answers'
import type { Engine } from '../../src/engine/engine.ts'
import type { HardenedItem } from '../../src/grading/hardened-item.ts'
import {
  buildGuesses,
  computeMean,
  measureGuessFloor,
  raiseToPrior,
  type Scoring,
  scoreAnswers,
} from './guess-floor.ts'
import { measureLearnedFloor } from './learned-floor.ts'
import { makeItems } from './make-items.ts'
import { estimateDistinct, NearestQuestion } from './questions.ts'

/** How many items each part of a card takes; sympy scores a thousand times slower than this process. */
interface SampleSizes {
  /**
   * Items whose answers are known to the guesses and to the look-up. The guesses are chosen on the last of them, since where all
   * answers differ it is the first that count as the most common.
   */
  references: number
  screened: number
  /** Guesses that are left after that. */
  kept: number
  measured: number
}
const NATIVE_SIZES: SampleSizes = { references: 200, screened: 24, kept: 12, measured: 200 }
const SYMBOLIC_SIZES: SampleSizes = { references: 60, screened: 3, kept: 5, measured: 24 }
/** Where a right answer has to be searched for. */
const SEARCHED_SIZES: SampleSizes = { ...NATIVE_SIZES, references: 60 }

const ORACLE_ITEMS = 50

interface AnsweredItem extends HardenedItem {
  /** The library's own right answer, or one that was found. */
  right: string | undefined
}

export async function measureTaskCard(engine: Engine, task: string, config: Config): Promise<TaskCard> {
  const { items, makeMs } = await makeItems(engine, task, await engine.canonicalizeConfig(task, config))
  const { references, screened, measured, kept } = splitItems(task, items)
  const guesses = buildGuesses(
    task,
    references.map(({ question, right }) => ({ question, answer: right ?? null })),
    1,
  )
  const sample = { screened, measured, kept }
  const prior = computePrior(references, items)
  const learned = await measureLearnedFloor(items, (item) => findRightAnswer(task, item))
  const measureFloor = async (scoring: Scoring) => {
    const searched = raiseToPrior(await measureGuessFloor(guesses, sample, scoring), prior, items.length)
    return learned && learned[scoring].mean > searched.mean ? learned[scoring] : searched
  }
  const upstream = await measureFloor('upstream')
  const hardened = await measureFloor('hardened')
  return {
    items: items.length,
    measured: measured.length,
    guess_floor: { upstream: round(upstream.mean), hardened: round(hardened.mean) },
    guess_floor_stderr: { upstream: round(upstream.stderr), hardened: round(hardened.stderr) },
    best_guess: { upstream: shorten(upstream.name), hardened: shorten(hardened.name) },
    lookup_floor: await measureAnswers(measured, createLookup(references)),
    learned_floor: learned ? { upstream: round(learned.upstream.mean), hardened: round(learned.hardened.mean) } : null,
    prior: round(prior),
    distinct_in_1000: estimateDistinct(items.map(({ question }) => question)),
    best_attainable: await measureAnswers(measured.slice(0, ORACLE_ITEMS), (item) => findRightAnswer(task, item)),
    make_ms: round(makeMs),
  }
}

function splitItems(task: string, items: readonly HardenedItem[]) {
  const sizes = getSampleSizes(task, items)
  const count = Math.min(sizes.references, Math.floor(items.length / 2))
  const references = items
    .slice(0, count)
    .map((item): AnsweredItem => ({ ...item, right: findRightAnswer(task, item) }))
  const measured = items.slice(count, count + sizes.measured)
  return { references, screened: references.slice(-sizes.screened), measured, kept: sizes.kept }
}

function getSampleSizes(task: string, items: readonly HardenedItem[]): SampleSizes {
  if (task.endsWith('_integration')) return SYMBOLIC_SIZES
  return items.some(({ entry }) => entry.answer === null) ? SEARCHED_SIZES : NATIVE_SIZES
}

function findRightAnswer(task: string, { entry }: HardenedItem): string | undefined {
  return getCorrectAnswer({ task, ...entry })
}

/** The mean score of one answer for each item; without an answer it is 0. */
async function measureAnswers(
  items: readonly HardenedItem[],
  answer: (item: HardenedItem) => string | undefined,
): Promise<TaskCard['guess_floor']> {
  const scores: { upstream: number[]; hardened: number[] } = { upstream: [], hardened: [] }
  for (const item of items) {
    const text = answer(item)
    for (const scoring of ['upstream', 'hardened'] as const)
      scores[scoring].push(text === undefined ? 0 : ((await scoreAnswers(item, [text], scoring))[0] ?? 0))
  }
  return { upstream: round(computeMean(scores.upstream)), hardened: round(computeMean(scores.hardened)) }
}

function createLookup(references: readonly AnsweredItem[]): (item: HardenedItem) => string | undefined {
  const nearest = new NearestQuestion(references.map(({ question }) => question))
  return (item) => references[nearest.find(item.question) ?? -1]?.right
}

/** The share of the most common right answer; of the references, where answers have to be found. */
function computePrior(references: readonly AnsweredItem[], items: readonly HardenedItem[]): number {
  const known = items.every(({ entry }) => entry.answer !== null)
  const answers = known ? items.map(({ entry }) => entry.answer) : references.map(({ right }) => right)
  const counts = Map.groupBy(
    answers.filter((answer) => answer !== undefined),
    (answer) => answer?.trim(),
  )
  return Math.max(0, ...[...counts.values()].map(({ length }) => length)) / answers.length
}

const round = (value: number) => Number(value.toFixed(3))
const shorten = (text: string) => (text.length > 60 ? `${text.slice(0, 59)}…` : text)
