/**
 * Frontier evals find the difficulty at which a model solves half of the items beyond guessing. They choose the items of
 * each round from the answers so far, those that are most informative.
 *
 * Samples are numbered round by round and, within a round, task by task. All tasks therefore progress together, and a
 * round of a task begins when the previous one is scored.
 */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FrontierResult } from '@reasoning-gym-server/contract/eval'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { FrontierSuite } from '@reasoning-gym-server/contract/suite'
import type { ScoringMode } from '@reasoning-gym-server/contract/verdict'
import { meanOrNull } from '../../../grading/statistics.ts'
import type { Requeue } from '../../../platform/queue/job-definition.ts'
import type { FrontierRung } from '../../runs/curriculum/posterior.ts'
import type { EvalParts, JobItems, KnownItems, SampledItem } from '../job-items.ts'
import type { EvalSpec, FrontierPlan, JobOfKind } from '../records.ts'
import { StoredSampleVerdict } from '../samples/output.ts'
import {
  chooseRound,
  computePosterior,
  type FrontierAnswer,
  summarizeAnswers,
} from '../statistics/frontier-eval-posterior.ts'
import { Z_90 } from '../statistics/means.ts'
import { parseSuiteItem, type SuiteItem } from '../suites.ts'

/** Floor at which a task is left out: if guessing earns this much on every rung, twenty answers say nothing about the model. */
const MAX_FLOOR = 0.9

/** Builds the plan; the items are chosen later. Throws `invalid_request` if no task has a frontier, and `unknown_task`. */
export function planFrontier(
  suite: 'frontier' | FrontierSuite,
  scoring: ScoringMode,
  { suites, ladders, cards }: EvalParts,
): Required<Pick<EvalSpec, 'suite' | 'frontier'>> {
  const { n, seed, ...choice } = suite === 'frontier' ? FrontierSuite.parse({ mode: 'frontier' }) : suite
  const explain = (task: string): string | undefined => {
    const rungs = ladders.rungs(task)
    if (rungs.length < 2) return 'its difficulty cannot be adjusted; measure it with another suite'
    const canBeGuessed = rungs.every(({ difficulty }) => cards.guessFloor(task, difficulty, scoring) >= MAX_FLOOR)
    return canBeGuessed ? `guessing earns nearly full marks on every rung under ${scoring} scoring` : undefined
  }
  const chosen = suites.listTasks(choice)
  const left_out: Record<string, string> = {}
  for (const task of chosen) {
    const reason = explain(task)
    if (reason !== undefined) left_out[task] = reason
  }
  const tasks = chosen.filter((task) => !(task in left_out))
  if (tasks.length === 0) {
    const reasons = Object.entries(left_out).map(([task, reason]) => `${task}: ${reason}`)
    throw new ServiceError('invalid_request', `None of these tasks has a frontier. ${reasons.join('. ')}`)
  }
  return {
    suite: { name: 'frontier', version: null, sha256: null, items: tasks.length * n },
    frontier: { tasks, items_per_task: n, seed, left_out },
  }
}

/** Items of a task that are chosen and asked together. */
export const ROUND_ITEMS = 4
/**
 * Interval at which a sample checks whether its round can begin. It polls because waking it would take a message from the
 * worker that scores the round's last sample, while a completion takes seconds and 200 ms are lost once per round.
 */
const ROUND_POLL_INTERVAL_MS = 200

/** Returns the task of a sample, its place among the task's items, and that of its round, whose end is exclusive. */
export function locateSample({ tasks, items_per_task }: FrontierPlan, sample: number) {
  const start = Math.floor(sample / (tasks.length * ROUND_ITEMS)) * ROUND_ITEMS
  const end = Math.min(start + ROUND_ITEMS, items_per_task)
  const place = sample - start * tasks.length
  const task = tasks[Math.floor(place / (end - start))]
  if (task === undefined) throw new RangeError(`the eval has no sample ${sample}`)
  return { task, index: start + (place % (end - start)), round: { start, end } }
}

/** Lists the samples of a task's items from `from` (inclusive) to `to` (exclusive). */
export function listTaskSamples(plan: FrontierPlan, task: string, from: number, to: number): number[] {
  const place = plan.tasks.indexOf(task)
  return Array.from({ length: Math.max(0, to - from) }, (_, k) => {
    const index = from + k
    const start = Math.floor(index / ROUND_ITEMS) * ROUND_ITEMS
    const size = Math.min(ROUND_ITEMS, plan.items_per_task - start)
    return start * plan.tasks.length + place * size + (index - start)
  })
}

/** Returns the highest number of samples that can be in flight. */
export function countConcurrentSamples({ tasks, items_per_task }: FrontierPlan): number {
  return tasks.length * Math.min(ROUND_ITEMS, items_per_task)
}

type FrontierJob = JobOfKind<'eval'> & { spec: { frontier: FrontierPlan } }

export function isFrontierJob(job: JobOfKind<'eval'>): job is FrontierJob {
  return job.spec.frontier !== undefined
}

/** The items of a frontier eval: those that are chosen so far. */
export class FrontierItems implements JobItems {
  readonly #job: FrontierJob
  readonly #deps: EvalParts

  constructor(job: FrontierJob, deps: EvalParts) {
    this.#job = job
    this.#deps = deps
  }

  /** Lists the items in sample order. A frontier eval that was cancelled or failed has not chosen all of them. */
  async list(): Promise<KnownItems> {
    const items = await this.at(Array.from({ length: this.#job.total }, (_, sample) => sample))
    const known = items.flatMap((item, sample) => (item === undefined ? [] : [{ sample, item }]))
    const places = new Map(known.map(({ sample }, index) => [sample, index]))
    return { items: known.map(({ item }) => item), indexOf: (sample) => places.get(sample) ?? -1 }
  }

  async at(samples: readonly number[]): Promise<(SuiteItem | undefined)[]> {
    const chosen = await this.#deps.samples.listChosenItems(this.#job.id, samples)
    return chosen.map((line) => (line === null ? undefined : parseSuiteItem(line)))
  }

  /**
   * Returns the item of a sample, which never changes. It cannot be chosen while earlier rounds of its task have samples
   * without a verdict.
   */
  async choose(sample: number): Promise<SuiteItem | Requeue> {
    const { samples, suites, ladders, cards } = this.#deps
    const [chosen] = await this.at([sample])
    if (chosen) return chosen
    const { frontier: plan, grading_rules } = this.#job.spec
    const { task, index, round } = locateSample(plan, sample)
    const answers = await this.#listAnswers(task, round.start)
    if (!answers) return { delayMs: ROUND_POLL_INTERVAL_MS }
    const rungs = ladders.rungs(task).map(({ difficulty }) => ({
      difficulty,
      floor: cards.guessFloor(task, difficulty, grading_rules.scoring),
    }))
    const rung = chooseRound(computePosterior(answers), rungs, round.end - round.start)[index - round.start]
    const item = await suites.buildItem({ task, seed: plan.seed, index, difficulty: rung?.difficulty ?? 0 })
    return parseSuiteItem(await samples.chooseItem(this.#job.id, sample, item))
  }

  /** Returns the scored answers to the task's items before `end`, or undefined if one has no verdict yet. */
  async #listAnswers(task: string, end: number): Promise<FrontierAnswer[] | undefined> {
    const { id, spec } = this.#job
    const numbers = listTaskSamples(spec.frontier, task, 0, end)
    const [items, verdicts] = await Promise.all([
      this.at(numbers),
      this.#deps.samples.listVerdictsOf(StoredSampleVerdict, id, numbers),
    ])
    if (verdicts.includes(null)) return undefined
    return items.flatMap((item, k) => {
      const { score = null, answer = null } = verdicts[k] ?? {}
      return !item || score === null ? [] : [{ score, isFormatted: answer !== null, rung: this.#rungOf(item) }]
    })
  }

  #rungOf({ id }: SuiteItem): FrontierRung {
    const { task, difficulty } = decodeItemId(id)
    const floor = this.#deps.cards.guessFloor(task, difficulty, this.#job.spec.grading_rules.scoring)
    return { difficulty: difficulty ?? 0, floor }
  }
}

/** Builds the result. `items` has the chosen items in sample order. */
export function buildFrontierResult(plan: FrontierPlan, items: readonly SampledItem[]): FrontierResult {
  const byTask = Map.groupBy(items, ({ task }) => task)
  const places = plan.tasks.flatMap((task) => {
    const answers = (byTask.get(task) ?? []).flatMap(toAnswer)
    return answers.length === 0 ? [] : [{ task, items: answers.length, ...summarizeAnswers(answers) }]
  })
  const mean = meanOrNull(places.map(({ difficulty }) => difficulty))
  const stderr =
    Math.sqrt(places.reduce((sum, { standardDeviation }) => sum + standardDeviation ** 2, 0)) / places.length
  return {
    difficulty_at_half: mean,
    interval_90: mean === null ? null : [Math.max(0, mean - Z_90 * stderr), Math.min(1, mean + Z_90 * stderr)],
    tasks: Object.fromEntries(
      places.map(({ task, difficulty, interval_90, slope, cap, beyond, items: used }) => [
        task,
        { difficulty_at_half: difficulty, interval_90, slope, cap, beyond, items: used },
      ]),
    ),
    left_out: plan.left_out,
  }
}

function toAnswer({ difficulty, guessFloor, verdicts }: SampledItem): FrontierAnswer[] {
  const { score = null, answer = null } = verdicts[0] ?? {}
  return score === null
    ? []
    : [{ score, isFormatted: answer !== null, rung: { difficulty: difficulty ?? 0, floor: guessFloor ?? 0 } }]
}
