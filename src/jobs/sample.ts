/**
 * A lane of an eval or collection: claims a sample, has it done, and the next; after a few it goes to the end of the queue,
 * so that all who are at work have their turn. Killed in the middle, the lane is taken up again with the sample it had.
 */
import { setInterval as ticks } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { ItemChanged } from '../evals/eval-items.ts'
import type { EvalSampler } from '../evals/eval-sampler.ts'
import type { GroupSampler } from '../evals/group-sampler.ts'
import type { ResultMaker } from '../evals/result-maker.ts'
import type { Spec } from '../evals/spec.ts'
import { Fault } from '../faults.ts'
import { type Again, ENGINE_DOWN } from '../queue/catalogue.ts'
import type { Samples } from '../store/samples.ts'
import type { Samplings, StoredSampling } from '../store/samplings.ts'

const IN_A_ROW = 4
const TURN_MS = 5_000
const LOOK_EVERY_MS = 1_000
const SLOW_ITEM_MS = 2_000
/** Tries of a sample whose item takes too long to make; then the eval has failed. */
const MAKE_TRIES = 4
/** Evals and collections whose tries are known here: more than can be at work. */
const COUNTED = 1000

interface Parts {
  samplings: Samplings
  samples: Samples
  evalSampler: EvalSampler
  groupSampler: GroupSampler
  results: ResultMaker
}

export function sample({ samplings, samples, evalSampler, groupSampler, results }: Parts) {
  /** Tries of samples whose item took too long, by sampling. One that ends elsewhere is forgotten as the oldest. */
  const slow = new LRUCache<string, Map<number, number>>({ max: COUNTED })

  const sampleOne = async (found: StoredSampling, sample: number, lane: number, signal: AbortSignal) => {
    const spec = found.spec as Spec // as its maker wrote it
    try {
      const again =
        spec.kind === 'collection'
          ? await groupSampler.sample(found, spec, sample, lane, signal)
          : await evalSampler.sample(found, spec, sample, lane, signal)
      slow.get(found.id)?.delete(sample)
      return again
    } catch (error) {
      signal.throwIfAborted()
      return afterFailure(found.id, sample, error)
    }
  }

  /** What to do about a sample that could not be had now. */
  const afterFailure = async (id: string, sample: number, error: unknown): Promise<Again | undefined> => {
    if (error instanceof ItemChanged) return fail(id, error.message)
    if (!(error instanceof Fault)) throw error
    if (error.code === 'engine_unavailable') return ENGINE_DOWN
    if (error.code === 'make_timeout') {
      if (tried(id, sample) < MAKE_TRIES) return { againInMs: SLOW_ITEM_MS }
    } else if (error.status === 503) throw error
    return fail(id, `An item cannot be made: ${error.message}`)
  }

  const tried = (id: string, sample: number): number => {
    const tries = slow.get(id) ?? new Map<number, number>()
    const count = (tries.get(sample) ?? 0) + 1
    slow.set(id, tries.set(sample, count))
    return count
  }

  const fail = async (id: string, reason: string): Promise<undefined> => {
    slow.delete(id)
    await results.end(id, 'failed', reason)
  }

  return async (
    { sampling: id, lane }: { sampling: string; lane: number },
    { signal: stopping }: { signal: AbortSignal },
  ): Promise<Again | undefined> => {
    const found = await samplings.find(id)
    if (!found) return undefined
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, stopping])
    const watch = watchUntilOver(samplings, id, over)
    const until = performance.now() + TURN_MS
    try {
      for (let k = 0; k < IN_A_ROW && performance.now() < until; k++) {
        const claim = await samples.claim(id, lane)
        if (claim.kind === 'ended') {
          slow.delete(id)
          return undefined
        }
        if (claim.kind === 'none') {
          const { done, total } = (await samplings.find(id)) ?? found
          if (done >= total) await results.end(id, 'done') // whoever did the last sample was killed before this
          return undefined
        }
        const again = await sampleOne(found, claim.sample, lane, signal)
        if (again) return again
      }
      return { againInMs: 0 }
    } catch (error) {
      if (over.signal.aborted) return undefined
      if (stopping.aborted) return { againInMs: 0 }
      throw error
    } finally {
      watch.close()
    }
  }
}

/** Aborts once the sampling is no longer at work, so that a cancel is felt within a second or two. */
function watchUntilOver(samplings: Samplings, id: string, over: AbortController): { close(): void } {
  const closed = new AbortController()
  const watch = async () => {
    for await (const _ of ticks(LOOK_EVERY_MS, undefined, { signal: closed.signal })) {
      const status = await samplings.status(id).catch(() => 'running') // Redis is away: the sample goes on
      if (status !== 'queued' && status !== 'running') return over.abort()
    }
  }
  watch().catch(() => {}) // closed
  return { close: () => closed.abort() }
}
