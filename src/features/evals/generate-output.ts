/** Requests one completion from a job's model. */
import type { PromptMessage } from '@reasoning-gym-server/contract/item'
import type { GenerationJob } from './generation-job-record.ts'
import { ModelRequestError } from './model-client/model-client.ts'
import type { ModelClients } from './model-clients.ts'
import type { ModelSpec } from './model-spec.ts'
import type { SampleOutput } from './sample-output.ts'

interface OutputRequest {
  job: GenerationJob
  model: ModelSpec
  /** Index of the model among the job's models, counted from 0. */
  modelIndex?: number
  messages: PromptMessage[]
  /** Position of the sample among those of its item, which is added to the seed. */
  seedOffset: number
  signal: AbortSignal
}

/**
 * Requests the output. A request that fails after all attempts is an output too. Throws the signal's reason if it
 * aborts.
 */
export async function generateOutput(
  clients: ModelClients,
  { job, model, modelIndex, messages, seedOffset, signal }: OutputRequest,
): Promise<SampleOutput> {
  const client = await clients.getOrCreate(job, model, modelIndex)
  const { seed, ...params } = model.params
  const request = { ...(seed !== undefined && { seed: seed + seedOffset }), ...params.request }
  try {
    return { kind: 'response', response: await client.complete(messages, { ...params, request }, signal) }
  } catch (error) {
    if (error instanceof ModelRequestError) return { kind: 'failed', detail: error.message }
    throw error
  }
}
