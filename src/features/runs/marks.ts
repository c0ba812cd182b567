/** Marks of a run for its charts: what was changed, and which warnings came up, each with its step. */
import { RunMark } from '@reasoning-gym-server/contract/run-control'
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { listWarnings } from './diagnosis/diagnosis.ts'
import { type AllRunKeys, createRunKeys, MAX_MARKS, runRecord } from './records.ts'
import { parseEntries } from './repository.ts'
import { type RunIndex, sweepEach } from './run-index.ts'
import type { TaskStatistics } from './task-statistics.ts'
import type { ResolvedRun, StoredRun } from './types.ts'

const recordMark = defineScript(import.meta.dirname, 'record-mark', { RUN: runRecord.constants })

/** The sweep visits runs that were used in this time, to half a minute. */
const RECENTLY_USED_MS = 90_000

type NewMark = Pick<RunMark, 'kind' | 'text'> & Partial<Pick<RunMark, 'task'>>

interface RunMarksDeps {
  redis: Redis
  keys: RedisKeys
  index: Pick<RunIndex, 'listByActivity'>
  taskStatistics: Pick<TaskStatistics, 'readRecentOutcomes'>
  log: Logger
}

export class RunMarks {
  readonly #deps: RunMarksDeps
  readonly #keys: AllRunKeys

  constructor(deps: RunMarksDeps) {
    this.#deps = deps
    this.#keys = createRunKeys(deps.keys)
  }

  /** Lists the marks, oldest first. */
  async list({ name, epoch }: StoredRun): Promise<RunMark[]> {
    const key = this.#keys.forRun(name, epoch).marks
    return parseEntries(this.#deps.redis, key, await this.#deps.redis.lrange(key, 0, -1), RunMark)
  }

  /** Does not reject: a chart without a mark is better than a change that fails. */
  async record(run: StoredRun, mark: NewMark): Promise<void> {
    await this.#append(run, formatMark(run, mark)).catch(() => {})
  }

  /** Does nothing if the run was deleted or restored: no other job would remove what is written then. */
  #append(run: StoredRun, mark: string): Promise<unknown> {
    return recordMark(this.#deps.redis, this.#keys.forRun(run.name, run.epoch), [run.epoch, mark, MAX_MARKS])
  }

  /** Forgets the marks of the steps that are undone, and no mark that is written meanwhile. `before`: the run as it was. */
  async recordRewind(before: StoredRun, step: number): Promise<void> {
    const { redis } = this.#deps
    const key = this.#keys.forRun(before.name, before.epoch).marks
    const isUndone = (text: string) => parseEntries(redis, key, [text], RunMark).some((mark) => !isMarkUpTo(mark, step))
    const undone = (await redis.lrange(key, 0, -1)).filter(isUndone)
    const text = `Went back to step ${step} from step ${before.counters.named_step ?? step}.`
    const change = redis.multi()
    for (const mark of new Set(undone)) change.lrem(key, 0, mark)
    await change.exec()
    await this.#append(before, formatMark(before, { kind: 'rewind', text }, step))
  }

  /** Marks where the warnings of runs in use first came up. `get` reads a run. */
  async sweepWarnings(get: (name: string) => Promise<ResolvedRun | undefined>): Promise<void> {
    const { index, log } = this.#deps
    const since = redisNow() - RECENTLY_USED_MS
    const used = (await index.listByActivity()).filter(({ usedAt }) => usedAt >= since)
    await sweepEach(
      log,
      used.map(({ name }) => name),
      async (name) => {
        const run = await get(name)
        if (run) await this.#recordWarnings(run)
      },
    )
  }

  async #recordWarnings(run: ResolvedRun): Promise<void> {
    const warnings = listWarnings(await this.#deps.taskStatistics.readRecentOutcomes(run), run.settings)
    if (warnings.length === 0) return
    const known = await this.list(run)
    for (const { kind: text, task } of warnings) {
      const isKnown = known.some((mark) => mark.kind === 'warning' && mark.text === text && mark.task === task)
      if (!isKnown) await this.record(run, { kind: 'warning', text, task })
    }
  }
}

/** Whether a run that goes back to the step keeps the mark. */
export function isMarkUpTo(mark: RunMark, step: number): boolean {
  return (mark.step ?? -1) <= step
}

function formatMark({ counters }: StoredRun, mark: NewMark, step = counters.step ?? counters.named_step): string {
  return JSON.stringify({
    task: null,
    ...mark,
    step: step ?? null,
    at: new Date(redisNow()).toISOString(),
  } satisfies RunMark)
}

const MAX_VALUE_CHARS = 40

/** Such as `batch_size: 16 → 32`; long values are left out. */
export function describeChange(changed: string[], before: object, after: object): string {
  const format = (settings: object, name: string) => JSON.stringify((settings as Record<string, unknown>)[name])
  return changed
    .map((name) => {
      const values = `${format(before, name)} → ${format(after, name)}`
      return values.length > MAX_VALUE_CHARS ? name : `${name}: ${values}`
    })
    .join(', ')
}
