/** Batches go out: composed with the first call for a step, waited for, read again, acknowledged. */
import { Fault } from '../faults.ts'
import type { OpenRun } from '../runs/open-run.ts'
import { restored } from '../runs/refusals.ts'
import type { RunBook } from '../runs/run-book.ts'
import { type Batches, type Composed, OPEN_MAX } from '../store/batches.ts'
import type { Completions } from '../store/completions.ts'
import type { BatchAsk, Share, StoredBatch } from '../words/batch.ts'

/** News can be lost while Redis is away: a waiting call looks by itself as often. */
const LOOK_MS = 2000

interface Parts {
  runs: RunBook
  batches: Batches
  completions: Completions
}

export type Delivered =
  | { kind: 'batch'; run: OpenRun; batch: StoredBatch }
  | { kind: 'missing'; missing: number; queued: number }

export class Delivery {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The batch of a step, or what is missing after `waitMs`. Throws `batch_acknowledged`, `too_many_open_batches`. */
  async take(runName: string, ask: BatchAsk, waitMs: number, signal: AbortSignal): Promise<Delivered> {
    const { runs, completions } = this.#parts
    for (const until = performance.now() + waitMs; ; ) {
      const run = await runs.find(runName)
      const left = until - performance.now()
      const news = left > 0 ? completions.expectAny(run, Math.min(left, LOOK_MS)) : undefined
      const gone = () => news?.cancel()
      signal.addEventListener('abort', gone, { once: true })
      try {
        const composed = await this.#compose(run, ask)
        if (composed.kind === 'batch') return { ...composed, run }
        if (composed.kind === 'missing' && (!news || signal.aborted || completions.closed)) return composed
        await news?.promise
      } finally {
        signal.removeEventListener('abort', gone)
        news?.cancel()
      }
    }
  }

  /** A composed batch. Throws `unknown_batch`. */
  async read(runName: string, step: number): Promise<{ run: OpenRun; batch: StoredBatch }> {
    const run = await this.#parts.runs.find(runName)
    const batch = await this.#parts.batches.find(run, step)
    if (!batch) throw new Fault('unknown_batch', `Run ${runName} has no open batch for step ${step}`)
    return { run, batch }
  }

  /** Whether all have acknowledged now. Throws `unknown_batch`. */
  async acknowledge(runName: string, step: number, share: Share | undefined): Promise<boolean> {
    const run = await this.#parts.runs.find(runName)
    const acknowledged = await this.#parts.batches.acknowledge(run, step, share, run.settings.keep_groups)
    switch (acknowledged) {
      case 'acknowledged':
        return true
      case 'waiting':
        return false
      case 'unknown':
        throw new Fault('unknown_batch', `Run ${runName} has no batch for step ${step}`)
      case 'epoch':
        throw restored(runName)
    }
  }

  async #compose(run: OpenRun, ask: BatchAsk): Promise<Extract<Composed, { kind: 'batch' | 'missing' }>> {
    const { settings, name } = run
    const composed = await this.#parts.batches.compose(run, {
      step: ask.step,
      ...thresholds(ask, settings.batch_size),
      policyVersion: ask.policy_version ?? ask.step,
      maxLag: settings.max_policy_lag,
      balance: ask.balance,
      unscored: settings.unscored_rollouts,
      keep: settings.keep_groups,
    })
    switch (composed.kind) {
      case 'batch':
      case 'missing':
        return composed
      case 'acknowledged':
        throw new Fault('batch_acknowledged', `Step ${ask.step} of run ${name} is acknowledged; ask for a later step`)
      case 'too_many':
        throw new Fault('too_many_open_batches', `${OPEN_MAX} steps of run ${name} wait: POST …/batches/{step}/ack`)
      case 'epoch':
        throw restored(name)
    }
  }
}

/** How many rollouts a batch wants, and with how many it is composed all the same. */
function thresholds({ min_sequences, final }: BatchAsk, batchSize: number): { wanted: number; least: number } {
  const least = final ? 1 : (min_sequences ?? batchSize)
  return { wanted: Math.max(batchSize, least), least }
}
