/** Holds the model clients of this process, one per running job, each with its API key and connections. */

import { LRUCache } from 'lru-cache'
import type { GenerationJob } from '../records.ts'
import type { GenerationJobRepository } from '../repository.ts'
import type { SampleOutput } from '../samples/output.ts'
import type { MemoryHold } from './answer-memory.ts'
import type { ConversationMessage, ModelClient } from './client.ts'
import { ModelRequestError } from './model-errors.ts'
import type { ModelSpec } from './spec.ts'

const MAX_OPEN_CLIENTS = 256

export interface CompletionRequest {
  job: GenerationJob
  model: ModelSpec
  messages: ConversationMessage[]
  /** Position of the sample among those of its item, which is added to the seed. */
  seedOffset: number
  signal: AbortSignal
  /** Memory for a large answer, held by the caller while it uses the output. */
  hold: MemoryHold
}

export class ModelClients {
  readonly #generationJobs: Pick<GenerationJobRepository, 'getModelApiKey' | 'hasModelAnswered'>
  readonly #clients = new LRUCache<string, Promise<ModelClient>>({
    max: MAX_OPEN_CLIENTS,
    dispose: (client) => void client.then((open) => open.close()).catch(() => {}), // one that could not be created has nothing to close
  })

  constructor(generationJobs: Pick<GenerationJobRepository, 'getModelApiKey' | 'hasModelAnswered'>) {
    this.#generationJobs = generationJobs
  }

  /** Returns the client of the job's model. A resumed job gets a new client because its API key may have changed. */
  getOrCreate(job: Pick<GenerationJob, 'id' | 'created_at' | 'resumed_at'>, model: ModelSpec): Promise<ModelClient> {
    const key = `${job.id}/${job.resumed_at ?? job.created_at}`
    let client = this.#clients.get(key)
    if (!client) {
      client = this.#create(job, model)
      client.catch(() => this.#clients.delete(key)) // the callers that wait for it handle the error
      this.#clients.set(key, client)
    }
    return client
  }

  async #create(
    job: Pick<GenerationJob, 'id' | 'resumed_at'>,
    { name, base_url, egress_policy, hides_replies: hidesReplies }: ModelSpec,
  ): Promise<ModelClient> {
    const api_key = await this.#generationJobs.getModelApiKey(job.id)
    const hasAnsweredElsewhere = () => this.#generationJobs.hasModelAnswered(job)
    // OpenAI's client and undici take 10 MB and 0.1 s of a start, and most processes call no model.
    const [{ ModelClient }, { createGuardedFetch }] = await Promise.all([
      import('./client.ts'),
      import('./guarded-fetch.ts'),
    ])
    const options = { hasAnsweredElsewhere, hidesReplies }
    return new ModelClient({ name, base_url, api_key }, createGuardedFetch(egress_policy), options)
  }

  /**
   * Requests one completion from a job's model. A request that fails after all attempts is an output too. Throws a
   * `ModelUnavailableError`, a `ModelClientClosedError`, or the signal's reason if it aborts.
   */
  async complete({ job, model, messages, seedOffset, signal, hold }: CompletionRequest): Promise<SampleOutput> {
    const client = await this.getOrCreate(job, model)
    const { seed, ...params } = model.params
    const request = { ...(seed !== undefined && { seed: seed + seedOffset }), ...params.request }
    try {
      return { kind: 'response', response: await client.complete(messages, { ...params, request }, { signal, hold }) }
    } catch (error) {
      if (error instanceof ModelRequestError) return { kind: 'failed', detail: error.message }
      throw error
    }
  }

  listJobIds(): Set<string> {
    return new Set([...this.#clients.keys()].map(parseJobId))
  }

  /** Closes the client of an ended job and drops its API key. */
  close(id: string): void {
    for (const key of this.#clients.keys()) if (parseJobId(key) === id) this.#clients.delete(key)
  }

  closeAll(): void {
    this.#clients.clear()
  }
}

function parseJobId(key: string): string {
  return key.slice(0, key.lastIndexOf('/'))
}
