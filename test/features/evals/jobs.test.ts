import { expect, it } from 'vitest'
import { closeIdleModels } from '../../../src/features/evals/jobs.ts'
import { ModelClients } from '../../../src/features/evals/models/clients.ts'
import type { GenerationJobRepository } from '../../../src/features/evals/repository.ts'

it('the API key of a model is dropped once its eval has ended, and not before', async () => {
  const active = new Set(['eval-a', 'eval-b'])
  const requestedKeys: string[] = []
  const generationJobs = {
    getModelApiKey: async (id: string) => void requestedKeys.push(id),
    listActive: async () => [...active].map((id) => ({ id, since: Date.now() })),
  } as unknown as GenerationJobRepository
  const modelClients = new ModelClients(generationJobs)
  const model = {
    name: 'm',
    base_url: 'http://127.0.0.1:9/v1',
    egress_policy: { allow_loopback: true, allowed_hosts: [] },
    params: { temperature: null, timeout_s: 1, retries: 0 },
    concurrency: 1,
  }
  const openAll = async () => {
    for (const id of ['eval-a', 'eval-b'])
      await modelClients.getOrCreate({ id, created_at: 1, resumed_at: null }, model)
  }
  const close = () => closeIdleModels({ generationJobs, modelClients })
  await openAll()
  await close()
  await openAll()
  expect(requestedKeys).toEqual(['eval-a', 'eval-b'])
  active.delete('eval-a')
  await close()
  expect([...modelClients.listJobIds()]).toEqual(['eval-b'])
  await openAll()
  expect(requestedKeys).toEqual(['eval-a', 'eval-b', 'eval-a'])
  modelClients.closeAll()
})
