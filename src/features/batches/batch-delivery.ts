/**
 * Delivers batches: composes one with the first call for a step, waits for it, reads it again, and acknowledges it. Two
 * scripts decide: scripts/compose-batch.lua which groups a batch has, and scripts/acknowledge-batch.lua when it is
 * acknowledged, at once or by the last of its ranks. A batch has no lease: it is kept until then.
 */
import type { BatchRequest, RankSlice, StoredBatch } from '@reasoning-gym-server/contract/batch'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import type { Notifications } from '../../platform/redis/notifications.ts'
import { formatEpochPath } from '../rollouts/records.ts'
import { assertStepInReach, runRestoredError } from '../runs/errors.ts'
import type { Runs } from '../runs/runs.ts'
import type { ResolvedRun } from '../runs/types.ts'
import type { BatchReading, BatchStreams } from './batch-stream.ts'
import { type BatchRepository, type ComposeBatchResult, MAX_OPEN_BATCHES } from './repository.ts'

interface BatchDeliveryDeps {
  runs: Runs
  batches: BatchRepository
  streams: BatchStreams
  notifications: Notifications
}

type DeliveryResult =
  | { kind: 'batch'; run: ResolvedRun; batch: StoredBatch }
  | { kind: 'insufficient'; missing: number; queued: number }

export class BatchDelivery {
  readonly #deps: BatchDeliveryDeps

  constructor(deps: BatchDeliveryDeps) {
    this.#deps = deps
  }

  /**
   * Returns the batch of a step, or what is missing after `waitMs`. A `final` call waits for the groups that are
   * queued, and gets what there is when the time is up. Throws `batch_acknowledged`, `too_many_open_batches`, and `invalid_request` for
   * a step far above the last one.
   */
  async waitForBatch(
    runName: string,
    ask: BatchRequest,
    { waitMs, signal, condition }: { waitMs: number; signal: AbortSignal; condition?: RunCondition | undefined },
  ): Promise<DeliveryResult> {
    const { runs, notifications } = this.#deps
    let run = await runs.require(runName, condition)
    assertStepInReach(run, ask.step)
    const { epoch, counters } = run // as the call found it: a batch for another history is not what it asked for
    const { rewinds = 0 } = counters
    for (const until = performance.now() + waitMs; ; run = await runs.require(runName, condition)) {
      const timeoutMs = until - performance.now()
      const completions = notifications.listen(formatEpochPath(run))
      try {
        const isLastTry = timeoutMs <= 0 || notifications.closed
        const composed = await this.#compose({ ...run, epoch }, ask, {
          rewinds,
          awaitQueued: !isLastTry || signal.aborted,
        })
        if (composed.kind === 'batch') return { ...composed, run }
        if (composed.kind === 'insufficient' && (isLastTry || signal.aborted)) return composed
        await completions.wait({ timeoutMs, signal })
      } finally {
        completions.close()
      }
    }
  }

  /** Returns a composed batch. Throws `unknown_batch`. */
  async requireBatch(
    runName: string,
    step: number,
    condition?: RunCondition,
  ): Promise<{ run: ResolvedRun; batch: StoredBatch }> {
    const run = await this.#deps.runs.require(runName, condition)
    const batch = await this.#deps.batches.get(run, step)
    if (!batch) throw createUnknownBatchError(runName, step)
    return { run, batch }
  }

  /** Streams a composed batch or a rank's slice of it as JSON. See `BatchStreams.stream`. */
  stream(reading: BatchReading): AsyncGenerator<Buffer> {
    return this.#deps.streams.stream(reading)
  }

  /** Returns whether all ranks have acknowledged the batch now. Throws `unknown_batch`. */
  async acknowledge(
    runName: string,
    step: number,
    share: RankSlice | undefined,
    condition?: RunCondition,
  ): Promise<boolean> {
    const run = await this.#deps.runs.require(runName, condition)
    const acknowledged = await this.#deps.batches.acknowledge(run, step, share, run.settings.keep_groups)
    switch (acknowledged) {
      case 'acknowledged':
        return true
      case 'waiting':
        return false
      case 'unknown':
        throw createUnknownBatchError(runName, step)
      case 'epoch_changed':
        throw runRestoredError(runName)
    }
  }

  async #compose(
    run: ResolvedRun,
    ask: BatchRequest,
    { rewinds, awaitQueued }: { rewinds: number; awaitQueued: boolean },
  ): Promise<Extract<ComposeBatchResult, { kind: 'batch' | 'insufficient' }>> {
    const { settings, name } = run
    const composed = await this.#deps.batches.compose(run, {
      step: ask.step,
      rewinds,
      ...resolveThresholds(ask, settings.batch_size),
      awaitQueued: ask.final && awaitQueued,
      policyVersion: ask.policy_version ?? ask.step,
      maxLag: settings.max_policy_lag,
      balance: ask.balance,
      unscored: settings.unscored_rollouts,
      maxRetainedGroups: settings.keep_groups,
    })
    switch (composed.kind) {
      case 'batch':
      case 'insufficient':
        return composed
      case 'acknowledged':
        throw new ServiceError(
          'batch_acknowledged',
          `Step ${ask.step} of the run ${name} is already acknowledged. Request a later step.`,
        )
      case 'too_many_open':
        throw new ServiceError(
          'too_many_open_batches',
          `The run ${name} has ${MAX_OPEN_BATCHES} batches that are not acknowledged, the most that it may have. Acknowledge them with POST /runs/{run}/batches/{step}/ack.`,
        )
      case 'run_changed':
        throw runRestoredError(name)
    }
  }
}

/** Returns the target number of rollouts and the minimum for composing a batch. Under `final`, the minimum is 0. */
function resolveThresholds(
  { min_rollouts, final }: BatchRequest,
  batchSize: number,
): { targetRollouts: number; minRollouts: number } {
  const minRollouts = final ? 0 : (min_rollouts ?? batchSize)
  return { targetRollouts: Math.max(batchSize, minRollouts), minRollouts }
}

function createUnknownBatchError(run: string, step: number): ServiceError {
  const detail = `The run ${run} has no open batch for step ${step}. POST /runs/{run}/batches composes it.`
  return new ServiceError('unknown_batch', detail, { missing: { kind: 'batch', name: String(step) } })
}
