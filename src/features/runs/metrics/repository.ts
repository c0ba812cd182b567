/**
 * The sums of the steps of a run in Redis, divided into rows for a chart. Groups that no step is known for have sums of
 * blocks instead.
 */
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import { GROUP_SUMS, type StatisticSums } from '../../../grading/group-statistics.ts'
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import { defineScript } from '../../../platform/redis/scripts.ts'
import { type AllRunKeys, createRunKeys, stepSumsRecord } from '../records.ts'
import type { StoredRun } from '../types.ts'

const mergeSums = defineScript({
  folder: import.meta.dirname,
  name: 'merge-sums',
  keys: ['metricSteps'],
  constants: { STEP: stepSumsRecord.constants },
})

/** Steps that one call of the script reads. It takes about a tenth of a millisecond for each. */
const STEPS_PER_CALL = 32
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
  all: { prefixes: [], excluded: true },
} as const satisfies Record<string, { prefixes: string[]; excluded: boolean }>
export type SumSelection = keyof typeof SELECTIONS

/** `steps` are training steps; `blocks` are numbers of groups, of the first group of each block. */
export type SumIndex = { kind: 'steps'; steps: number[] } | { kind: 'blocks'; steps: number[] }

export class MetricsRepository {
  readonly #redis: Redis
  readonly #keys: AllRunKeys
  readonly #finished = new LRUCache<string, StatisticSums>({ max: CACHED_ROWS })

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
  }

  /** Lists the steps of a run or, if `blocks` are wanted and its groups belong to no step, its blocks. */
  async list({ name, epoch, counters }: StoredRun, wanted: { blocks: boolean }): Promise<SumIndex> {
    const { metricSteps, metricBlocks } = this.#keys.forRun(name, epoch)
    const steps = (await this.#redis.zrange(metricSteps, '0', '-1')).map(Number)
    const hasNoSteps = wanted.blocks && counters.step === undefined && steps.every((step) => step === 0)
    const blocks = hasNoSteps ? (await this.#redis.zrange(metricBlocks, '0', '-1')).map(Number) : []
    return blocks.length > 0 ? { kind: 'blocks', steps: blocks } : { kind: 'steps', steps }
  }

  /** Yields the sums of each row, in their order. */
  async *readRows(
    run: StoredRun,
    kind: SumIndex['kind'],
    rows: MetricRow[],
    selection: SumSelection,
  ): AsyncGenerator<{ row: MetricRow; sums: StatisticSums }> {
    for (let k = 0; k < rows.length; k += CONCURRENT_CALLS) {
      const part = rows.slice(k, k + CONCURRENT_CALLS)
      const read = await Promise.all(part.map((row) => this.#readRow(run, kind, row, selection)))
      for (const [n, row] of part.entries()) yield { row, sums: read[n] ?? {} }
    }
  }

  /** The sums of a step do not change once its batch is composed. */
  async #readRow(run: StoredRun, kind: SumIndex['kind'], row: MetricRow, selection: SumSelection) {
    const { steps } = row
    const [first = 0, last = 0] = [steps[0], steps.at(-1)]
    const isFinished = kind === 'steps' && last <= (run.counters.step ?? -1)
    if (!isFinished) return this.#merge(run, kind, steps, selection)
    const name = [run.incarnation, run.epoch, selection, first, last, steps.length].join(' ')
    const known = this.#finished.get(name)
    if (known) return known
    const sums = await this.#merge(run, kind, steps, selection)
    this.#finished.set(name, sums)
    return sums
  }

  async #merge({ name, epoch }: StoredRun, kind: SumIndex['kind'], steps: number[], selection: SumSelection) {
    const keys = this.#keys.forRun(name, epoch)
    const prefix = kind === 'steps' ? keys.metricSums('') : keys.blockSums('')
    const { prefixes, excluded } = SELECTIONS[selection]
    const sums: StatisticSums = {}
    for (let k = 0; k < steps.length; k += STEPS_PER_CALL) {
      const part = steps.slice(k, k + STEPS_PER_CALL)
      const reply = await mergeSums(this.#redis, keys, [prefix, JSON.stringify(prefixes), excluded ? 1 : 0, ...part])
      addLines(sums, String(reply))
    }
    return sums
  }
}

function addLines(sums: StatisticSums, text: string): void {
  for (const line of text === '' ? [] : text.split('\n')) {
    const space = line.lastIndexOf(' ')
    const field = line.slice(0, space)
    const amount = Number(line.slice(space + 1))
    const before = sums[field] ?? 0
    sums[field] = field === stepSumsRecord.constants.last_completed_at ? Math.max(before, amount) : before + amount
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
