/**
 * Determines after each sample how a duel stands: the test over its items, in order, up to the first incomplete one. The
 * state therefore depends only on the scores, not on the order in which completions arrived.
 */
import { LRUCache } from 'lru-cache'
import { DUEL_SIDES, type DuelSpec, type JobOfKind } from '../records.ts'
import { StoredSampleVerdict } from '../samples/output.ts'
import type { SampleRepository } from '../samples/repository.ts'
import { SequentialTest } from '../statistics/sequential-test.ts'

const ITEMS_PER_READ = 32
/** Limit on cached duels, higher than the number that can be active. */
const MAX_TALLIES = 1000

/** Number of items without a score of both models after which a duel fails, if it has no other items. */
export const MAX_ITEMS_WITHOUT_PAIR = 32

/** `without_pairs`: no item has a score of both models, so the duel cannot come to an end. */
export type DuelStatus = 'open' | 'decided' | 'without_pairs'

export type DuelPair = [a: StoredSampleVerdict, b: StoredSampleVerdict]

/** Counts the items of a duel and tests their differences. */
export class DuelTally {
  readonly test: SequentialTest
  /** Items processed so far, with and without scores. */
  items = 0
  /** Items with scores of both models. */
  pairs = 0

  constructor({ alpha, smallest_difference }: Pick<DuelSpec, 'alpha' | 'smallest_difference'>) {
    this.test = new SequentialTest({ alpha, smallestDifference: smallest_difference })
  }

  /** Adds the next item. An item without a score on both sides is counted but not tested. */
  add([a, b]: DuelPair): void {
    this.items++
    if (a.score === null || b.score === null) return
    this.pairs++
    this.test.add(a.score - b.score)
  }
}

/** Returns undefined until both models have answered. */
export function toDuelPair(verdicts: readonly (StoredSampleVerdict | null | undefined)[]): DuelPair | undefined {
  const [a, b] = verdicts
  return a && b ? [a, b] : undefined
}

interface WatchedDuel {
  tally: DuelTally
  /** Update in progress; the next update waits for it. */
  update: Promise<void>
}

/** Keeps the tallies of duels in this process, so that each sample is read once. */
export class DuelReferee {
  readonly #samples: SampleRepository
  readonly #duels = new LRUCache<string, WatchedDuel>({ max: MAX_TALLIES })

  constructor(samples: SampleRepository) {
    this.#samples = samples
  }

  async evaluate(job: JobOfKind<'duel'>): Promise<DuelStatus> {
    const duel = this.#getOrCreate(job)
    duel.update = duel.update.catch(() => {}).then(() => this.#advance(job, duel.tally))
    await duel.update
    const { test, items, pairs } = duel.tally
    if (test.decision !== undefined) return 'decided'
    return pairs === 0 && items >= MAX_ITEMS_WITHOUT_PAIR ? 'without_pairs' : 'open'
  }

  /** Discards the cached state of a resumed duel, because samples without a score were retried. */
  #getOrCreate({ id, resumed_at, spec }: JobOfKind<'duel'>): WatchedDuel {
    const key = `${id}/${resumed_at ?? ''}`
    const duel = this.#duels.get(key) ?? { tally: new DuelTally(spec), update: Promise.resolve() }
    this.#duels.set(key, duel)
    return duel
  }

  async #advance({ id, spec }: JobOfKind<'duel'>, tally: DuelTally): Promise<void> {
    while (tally.items < spec.max_items && !tally.test.decision) {
      const from = tally.items
      const to = Math.min(from + ITEMS_PER_READ, spec.max_items)
      const verdicts = await this.#samples.listVerdicts(StoredSampleVerdict, id, from * DUEL_SIDES, to * DUEL_SIDES)
      for (let k = 0; k < verdicts.length; k += DUEL_SIDES) {
        const pair = toDuelPair(verdicts.slice(k, k + DUEL_SIDES))
        if (!pair) return
        tally.add(pair)
      }
    }
  }
}
