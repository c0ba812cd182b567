/** The metrics of a run over its training: rows for loggers and charts, distributions, and cells by task. */
import type { RunCondition, TaskMetric, TaskMetrics } from '@reasoning-gym-server/contract/run'
import {
  computeGroupMetrics,
  formatSumField,
  LENGTH_BINS,
  listSums,
  omitUnknown,
  REWARD_BINS,
  type StatisticSums,
} from '../../../grading/group-statistics.ts'
import { meanOfSum } from '../../../grading/statistics.ts'
import { stepSumsRecord } from '../records.ts'
import type { Runs } from '../runs.ts'
import {
  divideIntoRows,
  type MetricRow,
  type MetricsRepository,
  type SumIndex,
  type SumSelection,
} from './repository.ts'

interface RunMetricsDeps {
  runs: Pick<Runs, 'require'>
  repository: MetricsRepository
}

export interface MetricRange {
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
    const rows = await this.#open(name, range, isMerged ? 'metrics' : 'all', condition)
    return mapRows(rows, (row) => computeStepMetrics(describePlace(row, isMerged), row.sums))
  }

  /** Opens a stream of the distributions of rewards and lengths. Throws like `openRows`. */
  async openHistograms(name: string, range: MetricRange, condition?: RunCondition): Promise<AsyncIterable<object>> {
    const rows = await this.#open(name, range, 'distributions', condition)
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
    for await (const row of await this.#open(name, { from: 0, points: columns }, 'tasks', condition)) rows.push(row)
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
    selection: SumSelection,
    condition: RunCondition | undefined,
  ): Promise<AsyncIterable<SumsOfRow>> {
    const { runs, repository } = this.#deps
    const run = await runs.require(name, condition)
    // a logger that asks for each step gets step 0 first, never blocks of a run whose steps are still to come
    const { kind, steps } = await repository.list(run, { blocks: points !== undefined })
    const rows = divideIntoRows(steps, points ?? Number.POSITIVE_INFINITY, kind === 'steps' ? 0 : 1)
    const wanted = rows
      .map((row) => ({ ...row, steps: row.steps.filter((step) => step >= from && step <= to) }))
      .filter((row) => row.steps.length > 0)
    return mapRows(repository.readRows(run, kind, wanted, selection), (read) => ({ kind, ...read }))
  }
}

/** Where a row is. Without merging, a step is all there is to say. */
function describePlace({ kind, row, sums }: SumsOfRow, isMerged: boolean): Record<string, number> {
  const last = row.steps.at(-1) ?? row.first
  if (kind === 'blocks') {
    const time = sums[stepSumsRecord.constants.last_completed_at] ?? 0
    return { time: time / 1000, first_group: row.first, width: row.width }
  }
  return isMerged ? { step: last, first_step: row.first, width: row.width } : { step: last }
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
export function computeStepMetrics(place: Record<string, number>, sums: StatisticSums): Record<string, number> {
  const { groups = 0, rollouts = 0, all_correct = 0, all_wrong = 0 } = sums
  return omitUnknown({
    ...place,
    groups,
    rollouts,
    ...computeGroupMetrics(sums),
    'signal/frac_easy': meanOfSum(all_correct, groups),
    'signal/frac_hard': meanOfSum(all_wrong, groups),
    'lag/mean': meanOfSum(sums.lag_sum ?? 0, sums.lag_count ?? 0),
  })
}
