/** Compares a task's native rule, as far as it decides, with the library's scorer on the same answers. */
import { NATIVE_SCORERS, PARTIAL_SCORERS } from '@reasoning-gym-server/scorers/native-scorers'
import { InvalidAnswerError } from '@reasoning-gym-server/scorers/scorer'
import { makeItems } from '@reasoning-gym-server/task-tools/check/item-checks'
import { generateMutants } from '@reasoning-gym-server/task-tools/check/mutants'
import { compareScorers } from '@reasoning-gym-server/task-tools/check/score-checks'
import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import {
  type DatasetPosition,
  type Engine,
  type EngineOutcome,
  type GeneratedItem,
  getConfigDefaults,
} from '../../src/engine/engine.ts'
import type { Ladders } from '../../src/features/tasks/ladders.ts'
import type { ScorerThreadPool } from '../../src/grading/scorer-thread-pool.ts'
import { areScoresEqual } from '../support/score-equality.ts'
import { generateAntiderivatives } from './antiderivatives.ts'
import { generateJsonAnswers } from './json-answers.ts'

/** A task's defaults, and its ladder. */
const DIFFICULTIES = [null, 0, 0.25, 0.5, 0.75, 1]

interface ScoreDifference {
  task: string
  recipe: string
  answer: string
  library: string
  native: string
}

interface TaskComparison {
  task: string
  answers: number
  /** Left to the library. */
  undecided: number
  differences: ScoreDifference[]
}

/**
 * Items at the defaults and along the ladder, `answers` in all; equal seeds compare the same. With fewer `items` than there are
 * difficulties, the seed decides which come after the defaults.
 */
export async function compareTask(
  engine: Engine,
  ladders: Ladders,
  task: string,
  answers: number,
  seed: number,
  items = Math.max(DIFFICULTIES.length, Math.ceil(answers / 20)),
): Promise<TaskComparison> {
  const random = seededRandom(seed)
  const [defaults, ...rungs] = DIFFICULTIES
  const turn = items < DIFFICULTIES.length ? seed % rungs.length : 0
  const difficulties = [defaults, ...rungs.slice(turn), ...rungs.slice(0, turn)]
  const perItem = Math.ceil(answers / items)
  const result: TaskComparison = { task, answers: 0, undecided: 0, differences: [] }
  let other = '42'
  for (let k = 0; k < items; k++) {
    const difficulty = difficulties[k % difficulties.length] ?? null
    const config = await engine.canonicalizeConfig(task, difficulty === null ? {} : ladders.configAt(task, difficulty))
    const place: DatasetPosition = [Math.floor(random() * 2 ** 30), 0]
    const [outcome] = await engine.generateItems(task, config, [place])
    if (outcome?.kind !== 'value') continue // too slow to make at this rung
    const made = outcome.value as GeneratedItem // as the host makes them
    const right = made.entry.answer ?? other
    const isPartial = PARTIAL_SCORERS[task] !== undefined
    const generate = task === 'codeio' ? generateJsonAnswers : generateAntiderivatives
    const half = isPartial ? Math.ceil(perItem / 2) : 0
    const texts = [
      ...new Set([
        ...generateMutants(right, other, perItem - half, random),
        ...(isPartial ? generate(right, other, half, random) : []),
      ]),
    ]
    const scores = await engine.score(task, config, place[0], made.entry, texts)
    const rule = (NATIVE_SCORERS[task] ?? PARTIAL_SCORERS[task])?.(made.entry)
    if (!rule) throw new Error(`${task} has no native scorer`)
    const full = { ...getConfigDefaults((await engine.tasks())[task]), ...config }
    texts.forEach((answer, n) => {
      const [library, native] = [describeOutcome(scores[n]), describeRule(() => rule(answer, full))]
      result.answers++
      if (native === undefined) result.undecided++
      else if (!areOutcomesEqual(task, library, native))
        result.differences.push({
          task,
          recipe: JSON.stringify({ config, place }),
          answer,
          library: String(library),
          native: String(native),
        })
    })
    other = right
  }
  return result
}

/** The same for the scorer in TypeScript of a custom task. */
export async function compareCustomTask(
  { engine, threadPool }: { engine: Engine; threadPool: ScorerThreadPool },
  task: string,
  answers: number,
  seed: number,
): Promise<TaskComparison> {
  const definition = (await engine.tasks())[task]
  if (!definition?.custom) throw new Error(`${task} is no custom task`)
  const count = Math.ceil(answers / 20)
  const made = await makeItems(
    { engine, task },
    {},
    Array.from({ length: count }, (_, k) => [seed + k, 0]),
  )
  if ('problem' in made) throw new Error(made.problem)
  const context = { engine, task, defaults: getConfigDefaults(definition) }
  const compared = await compareScorers(context, definition.custom, threadPool, made.items, 20, seed)
  const differences = compared.differences.map(({ seed: at, answer, python, file }) => ({
    task,
    recipe: JSON.stringify({ config: {}, place: [at, 0] }),
    answer,
    library: python,
    native: file,
  }))
  return { task, answers: compared.answers, undecided: 0, differences }
}

type ScoreOrFailure = number | string

function describeOutcome(outcome: EngineOutcome | undefined): ScoreOrFailure {
  if (outcome?.kind === 'value') return Number(outcome.value)
  return outcome?.kind === 'lost' ? `lost: ${outcome.reason}` : (outcome?.kind ?? 'nothing')
}

/** Undefined where the rule leaves the answer to the library. */
function describeRule(rule: () => number | undefined): ScoreOrFailure | undefined {
  try {
    const score = rule()
    if (score === undefined) return undefined
    return Number.isFinite(score) ? score : 0 // as the host writes it
  } catch (error) {
    return error instanceof InvalidAnswerError ? 'raised' : `broke: ${String(error)}`
  }
}

/** What hangs the library has no score to be equal to. */
function areOutcomesEqual(task: string, library: ScoreOrFailure, native: ScoreOrFailure): boolean {
  if (typeof library === 'number' && typeof native === 'number') return areScoresEqual(task, library, native)
  return library === native || String(library).startsWith('lost')
}
