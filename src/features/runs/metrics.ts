/** The metrics of a run over its training: rows for loggers and charts, distributions, and cells by task. */
import type { RunCondition, TaskMetric, TaskMetrics } from '@reasoning-gym-server/contract/run'
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import {
  type DividedSums,
  divideSums,
  FlatMetrics,
  formatSumField,
  GROUP_SUMS,
  LENGTH_BINS,
  listSums,
  REWARD_BINS,
  type StatisticSums,
} from '../../grading/group-statistics.ts'
import { meanOfSum, populationStdOfSums, studentT95 } from '../../grading/statistics.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { type AllRunKeys, createRunKeys } from './records.ts'
import type { Runs } from './runs.ts'
import { addSums, readSums } from './sums.ts'
import type { StoredRun } from './types.ts'

interface RunMetricsDeps {
  runs: Pick<Runs, 'require'>
  repository: MetricsRepository
}

interface MetricRange {
  from: number
  to?: number | undefined
  /** Merges steps into at most this many rows; undefined gives a row for each step. */
  points?: number | undefined
}

interface SumsOfRow {
  kind: SumIndex['kind']
  row: MetricRow
  sums: StatisticSums
}

export class RunMetrics {
  readonly #deps: RunMetricsDeps

  constructor(deps: RunMetricsDeps) {
    this.#deps = deps
  }

  /** Opens a stream of flat metrics, oldest first. Throws `unknown_run` and `run_recreated` before the first row. */
  async openRows(name: string, range: MetricRange, condition?: RunCondition): Promise<AsyncIterable<object>> {
    const isMerged = range.points !== undefined
    const rows = await this.#open(name, range, condition)
    return mapRows(rows, (row) => {
      const sums = divideSums(row.sums)
      if (isMerged) delete sums.families[GROUP_SUMS.task_scored.prefix] // a hundred more columns
      return computeStepMetrics(describePlace(row, isMerged), sums)
    })
  }

  /** Opens a stream of flat metrics of each task in each row, with the names of those of the run. Throws like `openRows`. */
  async openTaskRows(name: string, range: MetricRange, condition?: RunCondition): Promise<AsyncIterable<object>> {
    const rows = await this.#open(name, range, condition)
    return (async function* () {
      for await (const row of rows) yield* listTaskMetrics(describePlace(row, range.points !== undefined), row.sums)
    })()
  }

  /** Opens a stream of the distributions of rewards and lengths. Throws like `openRows`. */
  async openHistograms(name: string, range: MetricRange, condition?: RunCondition): Promise<AsyncIterable<object>> {
    const rows = await this.#open(name, range, condition)
    return mapRows(rows, (row) => ({
      ...describePlace(row, true),
      groups: row.sums.groups ?? 0,
      rewards: listBins('reward_bins', row.sums, REWARD_BINS),
      correct_lengths: listBins('correct_lengths', row.sums, LENGTH_BINS),
      wrong_lengths: listBins('wrong_lengths', row.sums, LENGTH_BINS),
    }))
  }

  /** Computes a metric of each task in at most `columns` rows. Throws like `openRows`. */
  async getTaskMetrics(
    name: string,
    { metric, columns }: { metric: TaskMetric; columns: number },
    condition?: RunCondition,
  ): Promise<TaskMetrics> {
    const rows: SumsOfRow[] = []
    for await (const row of await this.#open(name, { from: 0, points: columns }, condition)) rows.push(row)
    const byRow = rows.map(({ sums }) => computeTaskMetric(metric, sums))
    const tasks = [...new Set(byRow.flatMap((values) => [...values.keys()]))].toSorted()
    return {
      metric,
      columns: rows.map((row) => ({ ...describePlace(row, true), groups: row.sums.groups ?? 0 })),
      tasks: Object.fromEntries(tasks.map((task) => [task, byRow.map((values) => values.get(task) ?? null)])),
    }
  }

  async #open(
    name: string,
    { from, to = Number.POSITIVE_INFINITY, points }: MetricRange,
    condition: RunCondition | undefined,
  ): Promise<AsyncIterable<SumsOfRow>> {
    const { runs, repository } = this.#deps
    const run = await runs.require(name, condition)
    // a logger that asks for each step gets step 0 first, never blocks of a run whose steps are still to come
    const { kind, steps } = await repository.list(run, { blocks: points === undefined ? 'of_samples' : 'any' })
    const rows = divideIntoRows(steps, points ?? Number.POSITIVE_INFINITY, kind === 'steps' ? 0 : 1)
    const wanted = rows
      .map((row) => ({ ...row, steps: row.steps.filter((step) => step >= from && step <= to) }))
      .filter((row) => row.steps.length > 0)
    return repository.readRows(run, kind, wanted)
  }
}

/** Where a row is. Without merging, a step is all there is to say. */
function describePlace({ kind, row, sums }: SumsOfRow, isMerged: boolean): Record<string, number> {
  const step = row.steps.at(-1) ?? row.first
  if (kind === 'steps' && !isMerged) return { step }
  const time = (sums.last_completed_at ?? 0) / 1000
  const { first, width } = row
  if (kind === 'blocks') return { time, first_group: first, width }
  return { step, first_step: first, width, ...(time > 0 && { time }) }
}

const TASK_SUMS = {
  reward: ['task_reward:', 'task_scored:'],
  score: ['task_score:', 'task_scored:'],
  accuracy: ['task_correct:', 'task_scored:'],
  difficulty: ['task_difficulty:', 'task_difficulty_count:'],
} as const satisfies Record<TaskMetric, [sum: string, count: string]>

function computeTaskMetric(metric: TaskMetric, sums: StatisticSums): Map<string, number> {
  const [sumPrefix, countPrefix] = TASK_SUMS[metric]
  const values = new Map<string, number>()
  for (const [field, count] of Object.entries(sums)) {
    if (!field.startsWith(countPrefix)) continue
    const task = field.slice(countPrefix.length)
    const mean = meanOfSum(sums[sumPrefix + task] ?? 0, count)
    if (mean !== null) values.set(task, Math.round(mean * 1e4) / 1e4)
  }
  return values
}

/** The interval takes the means of groups for independent, not their rollouts. Without a spread between groups it is unknown. */
function* listTaskMetrics(place: Record<string, number>, sums: StatisticSums): Generator<object> {
  for (const [task, groups] of listSums('task_groups', sums).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const sumOf = (prefix: string) => sums[prefix + task] ?? 0
    const rollouts = sumOf('task_scored:')
    const reward = sumOf('task_reward:') / rollouts
    const metrics = new FlatMetrics({ groups, rollouts, 'reward/mean': reward })
    const spread = populationStdOfSums(sumOf('task_reward:'), sumOf('task_reward_squares:'), rollouts) ?? 0
    if (groups > 1 && spread > 1e-6) {
      const half = (studentT95(groups - 1) * spread) / Math.sqrt(groups - 1)
      metrics.set('reward/low', reward - half)
      metrics.set('reward/high', reward + half)
    }
    metrics.set('score/mean', meanOfSum(sumOf('task_score:'), rollouts))
    metrics.set('score/frac_correct', meanOfSum(sumOf('task_correct:'), rollouts))
    metrics.set('difficulty/mean', meanOfSum(sumOf('task_difficulty:'), sumOf('task_difficulty_count:')))
    metrics.set('length/mean', meanOfSum(sumOf('task_length:'), sumOf('task_length_count:')))
    yield { ...place, task, ...metrics.values }
  }
}

/** Counts by the number of their bin, without the empty bins at the end. */
function listBins(
  family: 'reward_bins' | 'correct_lengths' | 'wrong_lengths',
  sums: StatisticSums,
  bins: number,
): number[] {
  const counts = Array.from({ length: bins }, (_, bin) => sums[formatSumField(family, bin)] ?? 0)
  if (family === 'reward_bins') return listSums(family, sums).length === 0 ? [] : counts
  return counts.slice(0, counts.findLastIndex((count) => count > 0) + 1)
}

async function* mapRows<A, B>(rows: AsyncIterable<A>, convert: (row: A) => B): AsyncGenerator<B> {
  for await (const row of rows) yield convert(row)
}

/** Leaves out a metric that has no data. `place` says which step or time the metrics are of. */
export function computeStepMetrics(place: Record<string, number>, sums: DividedSums): Record<string, number> {
  const { groups = 0, rollouts = 0, all_correct = 0, all_wrong = 0, lag_sum = 0, lag_count = 0 } = sums.plain
  const metrics = new FlatMetrics({ ...place, groups, rollouts })
  metrics.setOfGroups(sums)
  metrics.set('signal/frac_easy', meanOfSum(all_correct, groups))
  metrics.set('signal/frac_hard', meanOfSum(all_wrong, groups))
  metrics.set('lag/mean', meanOfSum(lag_sum, lag_count))
  return metrics.values
}

/** Rows of finished steps that this process remembers, of about 10 KB each. */
const CACHED_ROWS = 1000

/** `steps` are training steps; `blocks` are numbers of groups, of the first group of each block. */
export type SumIndex = { kind: 'steps'; steps: number[] } | { kind: 'blocks'; steps: number[] }

/**
 * The sums of the steps of a run in Redis, divided into rows for a chart. Groups that no step is known for have sums of
 * blocks instead.
 */
export class MetricsRepository {
  readonly #redis: Redis
  readonly #keys: AllRunKeys
  readonly #finished = new LRUCache<string, StatisticSums>({ max: CACHED_ROWS })

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
  }

  /**
   * Lists the steps of a run or, if its groups belong to no step, its blocks: `of_samples` only those of a run whose
   * trainer sends single samples, which may have no steps.
   */
  async list({ name, epoch, counters }: StoredRun, wanted: { blocks: 'any' | 'of_samples' }): Promise<SumIndex> {
    const { metricSteps, metricBlocks, groupSizes } = this.#keys.forRun(name, epoch)
    const steps = (await this.#redis.zrange(metricSteps, '0', '-1')).map(Number)
    const hasNoSteps = counters.step === undefined && steps.every((step) => step === 0)
    const areWanted = hasNoSteps && (wanted.blocks === 'any' || (await this.#redis.exists(groupSizes)) === 1)
    const blocks = areWanted ? (await this.#redis.zrange(metricBlocks, '0', '-1')).map(Number) : []
    return blocks.length > 0 ? { kind: 'blocks', steps: blocks } : { kind: 'steps', steps }
  }

  /** Reads the sum of the rewards of the last steps or, in a run without steps, of the last blocks. */
  async readRecentRewards(run: StoredRun, count: number): Promise<{ reward: number; rollouts: number }> {
    const keys = this.#keys.forRun(run.name, run.epoch)
    const steps = await this.#redis.zrange(keys.metricSteps, String(-count), '-1')
    const hasNoSteps = run.counters.step === undefined && steps.every((step) => step === '0')
    const blocks = hasNoSteps ? await this.#redis.zrange(keys.metricBlocks, String(-count), '-1') : []
    const [key, recent] = blocks.length > 0 ? [keys.blockSums, blocks] : [keys.stepSums, steps]
    const total: StatisticSums = {}
    for await (const sums of readSums(this.#redis, key, recent)) addSums(total, sums)
    return { reward: total.reward ?? 0, rollouts: total.scored ?? 0 }
  }

  /** Yields the sums of each row, in their order. Those of a step do not change once its batch is composed. */
  async *readRows(run: StoredRun, kind: SumIndex['kind'], rows: MetricRow[]): AsyncGenerator<SumsOfRow> {
    const { incarnation, epoch, counters } = run
    const keys = this.#keys.forRun(run.name, epoch)
    const named = rows.map((row) => {
      const [first = 0, last = 0] = [row.steps[0], row.steps.at(-1)]
      const isFinished = kind === 'steps' && last <= (counters.step ?? -1)
      const name = isFinished && [incarnation, epoch, counters.rewinds, first, last, row.steps.length].join(' ')
      return { row, name, known: name ? this.#finished.get(name) : undefined }
    })
    const missing = named.flatMap(({ row, known }) => (known ? [] : row.steps.map(String)))
    const read = readSums(this.#redis, kind === 'steps' ? keys.stepSums : keys.blockSums, missing)
    for (const { row, name, known } of named) {
      let sums: StatisticSums | undefined = known
      for (let k = 0; !known && k < row.steps.length; k++) {
        const next: StatisticSums = (await read.next()).value ?? {}
        if (sums) addSums(sums, next)
        else sums = next
      }
      sums ??= {}
      if (name) this.#finished.set(name, sums)
      yield { kind, row, sums }
    }
  }
}

export interface MetricRow {
  /** First step of the row's span, and the length of the span. */
  first: number
  width: number
  /** The steps in it that have metrics, in ascending order. */
  steps: number[]
}

/** `steps` ascend. `origin` is the smallest possible step. */
export function divideIntoRows(steps: number[], maxRows: number, origin = 0): MetricRow[] {
  for (let width = 1; ; width *= 2) {
    const rows = divideByWidth(steps, width, maxRows, origin)
    if (rows) return rows
  }
}

function divideByWidth(steps: number[], width: number, maxRows: number, origin: number): MetricRow[] | undefined {
  const rows: MetricRow[] = []
  for (const step of steps) {
    const first = origin + Math.floor((step - origin) / width) * width
    const last = rows.at(-1)
    if (last?.first === first) last.steps.push(step)
    else if (rows.length === maxRows) return undefined
    else rows.push({ first, width, steps: [step] })
  }
  return rows
}
