/** The models that this process asks now, each with its key and connections. */
import { LRUCache } from 'lru-cache'
import type { GenerationJobRepository, StoredGenerationJob } from './generation-job-repository.ts'
import type { ModelSpec } from './generation-job-spec.ts'
import { createGuardedFetch, type GuardedFetch } from './model-client/guarded-fetch.ts'
import { ModelClient } from './model-client/model-client.ts'

const MAX_OPEN_CLIENTS = 256

export class ModelClients {
  readonly #generationJobs: GenerationJobRepository
  readonly #clients = new LRUCache<string, { model: Promise<ModelClient>; fetch: GuardedFetch }>({
    max: MAX_OPEN_CLIENTS,
    dispose: ({ fetch }) => void fetch.close(),
  })

  constructor(samplings: GenerationJobRepository) {
    this.#generationJobs = samplings
  }

  /** A resumed eval may have another key. */
  getOrCreate(
    { id, lastStartedAt: opened }: Pick<StoredGenerationJob, 'id' | 'lastStartedAt'>,
    { name, base_url, reach }: ModelSpec,
  ): Promise<ModelClient> {
    const key = `${id}/${opened}`
    let open = this.#clients.get(key)
    if (!open) {
      const fetch = createGuardedFetch(reach)
      const model = this.#generationJobs
        .getModelApiKey(id)
        .then((api_key) => new ModelClient({ name, base_url, api_key }, fetch))
      model.catch(() => this.#clients.delete(key)) // met by whoever waits for it
      open = { model, fetch }
      this.#clients.set(key, open)
    }
    return open.model
  }

  /** Ids of the evals and collections whose models are open. */
  listJobIds(): Set<string> {
    return new Set([...this.#clients.keys()].map(parseJobId))
  }

  /** Nobody asks for this eval or collection any more: its key is forgotten here too. */
  close(id: string): void {
    for (const key of [...this.#clients.keys()]) if (parseJobId(key) === id) this.#clients.delete(key)
  }

  closeAll(): void {
    this.#clients.clear()
  }
}

function parseJobId(key: string): string {
  return key.slice(0, key.lastIndexOf('/'))
}
