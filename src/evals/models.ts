/** The models that this process asks now, each with its key and connections. */
import { LRUCache } from 'lru-cache'
import { type GuardedFetch, guardedFetch } from '../models/guarded-fetch.ts'
import { Model } from '../models/model.ts'
import type { Samplings, StoredSampling } from '../store/samplings.ts'
import type { CalledModel } from './spec.ts'

const OPEN_AT_ONCE = 256

export class Models {
  readonly #samplings: Samplings
  readonly #open = new LRUCache<string, { model: Promise<Model>; fetch: GuardedFetch }>({
    max: OPEN_AT_ONCE,
    dispose: ({ fetch }) => void fetch.close(),
  })

  constructor(samplings: Samplings) {
    this.#samplings = samplings
  }

  /** A resumed eval may have another key. */
  of({ id, opened }: Pick<StoredSampling, 'id' | 'opened'>, { name, base_url, reach }: CalledModel): Promise<Model> {
    const key = `${id}/${opened}`
    let open = this.#open.get(key)
    if (!open) {
      const fetch = guardedFetch(reach)
      const model = this.#samplings.secret(id).then((api_key) => new Model({ name, base_url, api_key }, fetch))
      model.catch(() => this.#open.delete(key)) // met by whoever waits for it
      open = { model, fetch }
      this.#open.set(key, open)
    }
    return open.model
  }

  /** Ids of the evals and collections whose models are open. */
  ids(): Set<string> {
    return new Set([...this.#open.keys()].map(idOf))
  }

  /** Nobody asks for this eval or collection any more: its key is forgotten here too. */
  close(id: string): void {
    for (const key of [...this.#open.keys()]) if (idOf(key) === id) this.#open.delete(key)
  }

  closeAll(): void {
    this.#open.clear()
  }
}

function idOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'))
}
