/** The metrics of a run over its training: rows for loggers and charts, distributions, and cells by task. */
import type { RunCondition, TaskMetric, TaskMetrics } from '@reasoning-gym-server/contract/run'
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import pMap from 'p-map'
import {
  type DividedSums,
  divideListedSums,
  type FieldParts,
  FlatMetrics,
  formatSumField,
  GROUP_SUMS,
  LENGTH_BINS,
  listSums,
  parseSumField,
  REWARD_BINS,
  type StatisticSums,
} from '../../grading/group-statistics.ts'
import { meanOfSum } from '../../grading/statistics.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { type AllRunKeys, createRunKeys, stepSumsRecord } from './records.ts'
import type { Runs } from './runs.ts'
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

/** The sums of a row: each field once. Thousands of rows with objects of a hundred keys would take several times as long. */
interface ListedSums {
  fields: (FieldParts & { field: string })[]
  sums: number[]
}

interface SumsOfRow {
  kind: SumIndex['kind']
  row: MetricRow
  listed: ListedSums
}

export class RunMetrics {
  readonly #deps: RunMetricsDeps

  constructor(deps: RunMetricsDeps) {
    this.#deps = deps
  }

  /** Opens a stream of flat metrics, oldest first. Throws `unknown_run` and `run_recreated` before the first row. */
  async openRows(name: string, range: MetricRange, condition?: RunCondition): Promise<AsyncIterable<object>> {
    const isMerged = range.points !== undefined
    const rows = await this.#open(name, range, isMerged ? 'metrics' : 'metrics_by_task', condition)
    return mapRows(rows, (row) =>
      computeStepMetrics(describePlace(row, isMerged), divideListedSums(row.listed.fields, row.listed.sums)),
    )
  }

  /** Opens a stream of the distributions of rewards and lengths. Throws like `openRows`. */
  async openHistograms(name: string, range: MetricRange, condition?: RunCondition): Promise<AsyncIterable<object>> {
    const rows = await this.#open(name, range, 'distributions', condition)
    return mapRows(rows, (row) => {
      const sums = indexSums(row.listed)
      return {
        ...describePlace(row, true),
        groups: sums.groups ?? 0,
        rewards: listBins('reward_bins', sums, REWARD_BINS),
        correct_lengths: listBins('correct_lengths', sums, LENGTH_BINS),
        wrong_lengths: listBins('wrong_lengths', sums, LENGTH_BINS),
      }
    })
  }

  /** Computes a metric of each task in at most `columns` rows. Throws like `openRows`. */
  async getTaskMetrics(
    name: string,
    { metric, columns }: { metric: TaskMetric; columns: number },
    condition?: RunCondition,
  ): Promise<TaskMetrics> {
    const rows: SumsOfRow[] = []
    for await (const row of await this.#open(name, { from: 0, points: columns }, 'tasks', condition)) rows.push(row)
    const byRow = rows.map(({ listed }) => computeTaskMetric(metric, indexSums(listed)))
    const tasks = [...new Set(byRow.flatMap((values) => [...values.keys()]))].toSorted()
    return {
      metric,
      columns: rows.map((row) => ({ ...describePlace(row, true), groups: indexSums(row.listed).groups ?? 0 })),
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
    const { kind, steps } = await repository.list(run, { blocks: points === undefined ? 'of_samples' : 'any' })
    const rows = divideIntoRows(steps, points ?? Number.POSITIVE_INFINITY, kind === 'steps' ? 0 : 1)
    const wanted = rows
      .map((row) => ({ ...row, steps: row.steps.filter((step) => step >= from && step <= to) }))
      .filter((row) => row.steps.length > 0)
    return repository.readRows(run, kind, wanted, selection)
  }
}

/** Where a row is. Without merging, a step is all there is to say. */
function describePlace({ kind, row, listed }: SumsOfRow, isMerged: boolean): Record<string, number> {
  const last = row.steps.at(-1) ?? row.first
  if (kind === 'blocks') {
    const time = indexSums(listed)[stepSumsRecord.constants.last_completed_at] ?? 0
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
export function computeStepMetrics(place: Record<string, number>, sums: DividedSums): Record<string, number> {
  const { groups = 0, rollouts = 0, all_correct = 0, all_wrong = 0, lag_sum = 0, lag_count = 0 } = sums.plain
  const metrics = new FlatMetrics({ ...place, groups, rollouts })
  metrics.setOfGroups(sums)
  metrics.set('signal/frac_easy', meanOfSum(all_correct, groups))
  metrics.set('signal/frac_hard', meanOfSum(all_wrong, groups))
  metrics.set('lag/mean', meanOfSum(lag_sum, lag_count))
  return metrics.values
}

const mergeSums = defineScript({
  folder: import.meta.dirname,
  name: 'merge-sums',
  keys: ['metricSteps'],
  constants: { STEP: stepSumsRecord.constants },
})

/** Steps that one call of the script reads. It takes up to half a millisecond for each. */
const STEPS_PER_CALL = 16
/** Calls that wait in Redis at once, so that others are not delayed. */
const CONCURRENT_CALLS = 8
/** Rows of finished steps that this process remembers, of a few KB each. */
const CACHED_ROWS = 3000

const DISTRIBUTIONS = [
  GROUP_SUMS.reward_bins.prefix,
  GROUP_SUMS.correct_lengths.prefix,
  GROUP_SUMS.wrong_lengths.prefix,
]
/** Fields of the sums, by their prefixes. */
const SELECTIONS = {
  metrics: { prefixes: ['task_', ...DISTRIBUTIONS], excluded: true },
  distributions: {
    prefixes: ['groups', stepSumsRecord.constants.last_completed_at, ...DISTRIBUTIONS],
    excluded: false,
  },
  tasks: { prefixes: ['groups', stepSumsRecord.constants.last_completed_at, 'task_'], excluded: false },
  metrics_by_task: {
    prefixes: ['task_score:', 'task_correct:', 'task_difficulty', ...DISTRIBUTIONS],
    excluded: true,
  },
} as const satisfies Record<string, { prefixes: string[]; excluded: boolean }>
export type SumSelection = keyof typeof SELECTIONS

/** `steps` are training steps; `blocks` are numbers of groups, of the first group of each block. */
export type SumIndex = { kind: 'steps'; steps: number[] } | { kind: 'blocks'; steps: number[] }

/**
 * The sums of the steps of a run in Redis, divided into rows for a chart. Groups that no step is known for have sums of
 * blocks instead.
 */
export class MetricsRepository {
  readonly #redis: Redis
  readonly #keys: AllRunKeys
  readonly #finished = new LRUCache<string, ListedSums>({ max: CACHED_ROWS })

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
    const places = blocks.length > 0 ? blocks.map(keys.blockSums) : steps.map(keys.metricSums)
    const { reward, scored } = stepSumsRecord.constants
    const sums = await Promise.all(places.map((key) => this.#redis.hmget(key, reward, scored)))
    const total = (field: number) => sums.reduce((sum, values) => sum + Number(values[field] ?? 0), 0)
    return { reward: total(0), rollouts: total(1) }
  }

  /** Yields the sums of each row, in their order. */
  async *readRows(
    run: StoredRun,
    kind: SumIndex['kind'],
    rows: MetricRow[],
    selection: SumSelection,
  ): AsyncGenerator<SumsOfRow> {
    for (const part of divideIntoParts(rows)) {
      const read = await this.#readPart(run, kind, part, selection)
      for (const [n, row] of part.entries()) yield { kind, row, listed: read[n] ?? mergeListed([]) }
    }
  }

  /** The sums of a step do not change once its batch is composed. */
  async #readPart(
    run: StoredRun,
    kind: SumIndex['kind'],
    rows: MetricRow[],
    selection: SumSelection,
  ): Promise<ListedSums[]> {
    const read = rows.map(({ steps }) => {
      const [first = 0, last = 0] = [steps[0], steps.at(-1)]
      const isFinished = kind === 'steps' && last <= (run.counters.step ?? -1)
      const name = isFinished
        ? [run.incarnation, run.epoch, run.counters.rewinds, selection, first, last, steps.length].join(' ')
        : undefined
      const known = name === undefined ? undefined : this.#finished.get(name)
      return { name, steps, isKnown: known !== undefined, parts: known ? [known] : [] }
    })
    const missing = read.filter(({ isKnown }) => !isKnown)
    await pMap(packCalls(missing), (pieces) => this.#readPieces(run, kind, pieces, selection), {
      concurrency: CONCURRENT_CALLS,
    })
    return read.map(({ name, isKnown, parts }) => {
      const sums = mergeListed(parts)
      if (name !== undefined && !isKnown) this.#finished.set(name, sums)
      return sums
    })
  }

  /** Adds the sums of the steps of each piece to the parts of its row. */
  async #readPieces(
    { name, epoch }: StoredRun,
    kind: SumIndex['kind'],
    pieces: RowPiece[],
    selection: SumSelection,
  ): Promise<void> {
    const keys = this.#keys.forRun(name, epoch)
    const prefix = kind === 'steps' ? keys.metricSums('') : keys.blockSums('')
    const call = { ...SELECTIONS[selection], rows: pieces.map(({ steps }) => steps.map(String)) }
    const reply = (await mergeSums(this.#redis, keys, [prefix, JSON.stringify(call)])) as [string, string] // as it says
    const fields = reply[0].split('\n').map((field) => ({ field, ...parseSumField(field) }))
    const read = JSON.parse(reply[1]) as [places: number[], sums: number[]][] // one for each piece
    for (const [k, [places, sums]] of read.entries()) {
      const listed = places.map((place) => fields[place] as (typeof fields)[number]) // each has its place from these fields
      pieces[k]?.parts.push({ fields: listed, sums })
    }
  }
}

/** Some of the steps of a row, and what was read of that row. */
interface RowPiece {
  steps: number[]
  parts: ListedSums[]
}

/** Divides rows into calls of at most STEPS_PER_CALL steps: a call for each row would take three times as long if rows are short. */
function packCalls(rows: RowPiece[]): RowPiece[][] {
  const calls: RowPiece[][] = []
  let room = 0
  for (const { steps, parts } of rows) {
    for (let k = 0; k < steps.length; ) {
      if (room === 0) {
        calls.push([])
        room = STEPS_PER_CALL
      }
      const piece = { parts, steps: steps.slice(k, k + room) }
      calls.at(-1)?.push(piece)
      room -= piece.steps.length
      k += piece.steps.length
    }
  }
  return calls
}

/** Divides rows into parts that are read together, and sent before the next part is read. */
function divideIntoParts(rows: MetricRow[]): MetricRow[][] {
  const parts: MetricRow[][] = []
  let steps = 0
  for (const row of rows) {
    const last = parts.at(-1)
    if (last && steps + row.steps.length <= STEPS_PER_CALL * CONCURRENT_CALLS) last.push(row)
    else {
      parts.push([row])
      steps = 0
    }
    steps += row.steps.length
  }
  return parts
}

function mergeListed(parts: ListedSums[]): ListedSums {
  const [first = { fields: [], sums: [] }] = parts
  if (parts.length <= 1) return first
  const merged = new Map<string, { field: ListedSums['fields'][number]; sum: number }>()
  for (const { fields, sums } of parts) {
    for (const [k, field] of fields.entries()) {
      const amount = sums[k] ?? 0
      const known = merged.get(field.field)
      if (!known) merged.set(field.field, { field, sum: amount })
      else if (field.field === stepSumsRecord.constants.last_completed_at) known.sum = Math.max(known.sum, amount)
      else known.sum += amount
    }
  }
  const list = [...merged.values()]
  return { fields: list.map(({ field }) => field), sums: list.map(({ sum }) => sum) }
}

/** Sums by field. */
function indexSums({ fields, sums }: ListedSums): StatisticSums {
  return Object.fromEntries(fields.map(({ field }, k) => [field, sums[k] ?? 0]))
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
