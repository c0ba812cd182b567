/**
 * Closes the model clients of evals and collections that have ended. It is a local timer because clients and keys
 * belong to this process.
 */

import type { ModelClients } from '../models/clients.ts'
import type { GenerationJobRepository } from '../repository.ts'

const CLOSE_INTERVAL_MS = 10_000

interface CloseIdleModelsDeps {
  generationJobs: GenerationJobRepository
  modelClients: ModelClients
}

export function startClosingIdleModels(
  deps: CloseIdleModelsDeps,
  onError: (error: unknown) => void,
): { close(): void } {
  const timer = setInterval(() => void closeIdleModels(deps).catch(onError), CLOSE_INTERVAL_MS)
  return { close: () => clearInterval(timer) }
}

export async function closeIdleModels({ generationJobs, modelClients }: CloseIdleModelsDeps): Promise<void> {
  // before the active jobs are listed, so that clients of jobs that start after this are not closed
  const idle = modelClients.listJobIds()
  if (idle.size === 0) return
  for (const { id } of await generationJobs.listActive()) idle.delete(id)
  for (const id of idle) modelClients.close(id)
}
