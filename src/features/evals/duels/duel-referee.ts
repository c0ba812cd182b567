/** Determines after each sample how a duel stands. It keeps what it has read, so each sample is read once. */
import { LRUCache } from 'lru-cache'
import { DUEL_SIDES } from '../generation-job-spec.ts'
import type { JobOfKind } from '../records.ts'
import { SampleVerdict } from '../samples/output.ts'
import type { SampleRepository } from '../samples/repository.ts'
import { DuelStanding, toDuelPair } from './duel-standing.ts'

const ITEMS_PER_READ = 32
/** Limit on cached duels, higher than the number that can be active. */
const MAX_STANDINGS = 1000

/** Number of items without a score of both models after which a duel fails, if it has no other items. */
export const MAX_ITEMS_WITHOUT_PAIR = 32

/** `without_pairs`: no item has a score of both models, so the duel cannot come to an end. */
export type DuelOutlook = 'open' | 'decided' | 'without_pairs'

interface WatchedDuel {
  standing: DuelStanding
  /** Update in progress; the next update waits for it. */
  look: Promise<void>
}

export class DuelReferee {
  readonly #samples: SampleRepository
  readonly #duels = new LRUCache<string, WatchedDuel>({ max: MAX_STANDINGS })

  constructor(samples: SampleRepository) {
    this.#samples = samples
  }

  async look(job: JobOfKind<'duel'>): Promise<DuelOutlook> {
    const duel = this.#getOrCreate(job)
    duel.look = duel.look.catch(() => {}).then(() => this.#advance(job, duel.standing))
    await duel.look
    const { test, items, pairs } = duel.standing
    if (test.decision !== undefined) return 'decided'
    return pairs === 0 && items >= MAX_ITEMS_WITHOUT_PAIR ? 'without_pairs' : 'open'
  }

  /** Discards the cached state of a resumed duel, because samples without a score were retried. */
  #getOrCreate({ id, resumed_at, spec }: JobOfKind<'duel'>): WatchedDuel {
    const key = `${id}/${resumed_at ?? ''}`
    const duel = this.#duels.get(key) ?? { standing: new DuelStanding(spec), look: Promise.resolve() }
    this.#duels.set(key, duel)
    return duel
  }

  async #advance({ id, spec }: JobOfKind<'duel'>, standing: DuelStanding): Promise<void> {
    while (standing.items < spec.max_items && !standing.test.decision) {
      const from = standing.items
      const to = Math.min(from + ITEMS_PER_READ, spec.max_items)
      const verdicts = await this.#samples.listVerdicts(SampleVerdict, id, from * DUEL_SIDES, to * DUEL_SIDES)
      for (let k = 0; k < verdicts.length; k += DUEL_SIDES) {
        const pair = toDuelPair(verdicts.slice(k, k + DUEL_SIDES))
        if (!pair) return
        standing.add(pair)
      }
    }
  }
}
