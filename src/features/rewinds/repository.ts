/** Rewinds runs in Redis: one script makes a run what it was after a step (scripts/rewind-run.lua). */
import type { Platform } from '../../platform/platform.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { createBatchKeys } from '../batches/repository.ts'
import { buildRetirementArgs, groupRecord } from '../rollouts/records.ts'
import type { EpochRepository } from '../runs/epochs.ts'
import type { RunRepository } from '../runs/repository.ts'
import { RunIndex } from '../runs/run-index.ts'
import { SEQUENCE_CONSTANTS } from '../runs/sequence/positions.ts'
import { withMix } from '../runs/settings.ts'
import type { ResolvedRun } from '../runs/types.ts'

const rewindRun = defineScript(import.meta.dirname, 'rewind-run', {
  ...SEQUENCE_CONSTANTS,
  GROUP: groupRecord.constants,
})

/** What a rewind has voided. */
interface VoidedCounts {
  groups: number
  queued_groups: number
  buffered_groups: number
  open_batches: number
  open_groups: number
}

export type RewindOutcome =
  | { kind: 'rewound'; voided: VoidedCounts }
  /** The run is as another call for the same resume left it. */
  | { kind: 'repeated' }
  /** The run is in another epoch, or its settings have changed. */
  | { kind: 'run_changed' }
  /** Nothing has named a step of the run. */
  | { kind: 'no_steps' }
  /** `step` is the latest one that was reached, or the oldest one that is kept. */
  | { kind: 'not_reached' | 'not_kept'; step: number }

interface RewindRepositoryDeps extends Pick<Platform, 'redis' | 'keys'> {
  epochs: EpochRepository
  runs: Pick<RunRepository, 'readMixes'>
}

export class RewindRepository {
  readonly #deps: RewindRepositoryDeps
  readonly #keys: ReturnType<typeof createBatchKeys>
  readonly #index: RunIndex

  constructor(deps: RewindRepositoryDeps) {
    this.#deps = deps
    this.#keys = createBatchKeys(deps.keys)
    this.#index = new RunIndex(deps.redis, deps.keys)
  }

  /** The settings of the run with an earlier mix, as JSON, or nothing if that is no longer kept. */
  async #formatSettings(run: ResolvedRun, number: number): Promise<string> {
    const mixes = await this.#deps.runs.readMixes(run, (run.counters.mixes ?? number) - number + 1)
    const mix = mixes.find((one) => one.number === number)
    return mix ? JSON.stringify(withMix(run, mix)) : ''
  }

  async rewind(run: ResolvedRun, step: number, resumeId: string | undefined): Promise<RewindOutcome> {
    const { name, epoch, settings } = run
    const keys = this.#keys.forRun(name, epoch)
    const params = {
      epoch,
      revision: run.revision,
      step,
      resume_id: resumeId?.toWellFormed(), // cjson rejects half a surrogate pair
      now: redisNow(),
      batch_key_prefix: keys.batch(''),
      ...buildRetirementArgs(keys, settings.keep_groups),
      ...this.#deps.epochs.listRewound(run),
    }
    await this.#index.markUsed(run)
    const perform = async (settings?: string) => {
      const args = [JSON.stringify({ ...params, settings })]
      const reply = await rewindRun(this.#deps.redis, { ...keys, states: keys.positionStates }, args)
      return reply as [RewindOutcome['kind'] | 'other_mix', ...(string | number)[]] // as the script returns them
    }
    let [kind, ...rest] = await perform()
    if (kind === 'other_mix') [kind, ...rest] = await perform(await this.#formatSettings(run, Number(rest[0])))
    if (kind === 'other_mix') throw new Error('the script has the settings of the mix')
    if (kind === 'not_reached' || kind === 'not_kept') return { kind, step: Number(rest[0]) }
    if (kind !== 'rewound') return { kind }
    const [groups = 0, queued = 0, buffered = 0, batches = 0, open = 0] = rest.map(Number)
    const voided = {
      groups,
      queued_groups: queued,
      buffered_groups: buffered,
      open_batches: batches,
      open_groups: open,
    }
    return { kind, voided }
  }
}
