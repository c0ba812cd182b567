import { expect, it } from 'vitest'
import type { GenerationJobRepository } from '../../../src/features/evals/generation-job-repository.ts'
import { sweepGenerationJobs } from '../../../src/features/evals/jobs/sweep-generation-jobs.ts'
import { ModelClients } from '../../../src/features/evals/model-clients.ts'

it('the key of a model is forgotten once its eval has ended, and not before', async () => {
  const active = new Set(['eval-a', 'eval-b'])
  const asked: string[] = []
  const generationJobs = {
    getModelApiKey: async (id: string) => void asked.push(id),
    get: async (id: string) => ({ id, status: 'running', spec: { model: null }, total: 1 }),
    listActive: async () => [...active].map((id) => ({ id, since: Date.now() })),
  } as unknown as GenerationJobRepository
  const models = new ModelClients(generationJobs)
  const called = { name: 'm', base_url: 'http://127.0.0.1:9/v1', reach: { loopback: true, hosts: [] } }
  const asking = { asking: { temperature: null, timeout_s: 1, retries: 0 }, concurrency: 1 }
  const ask = async () => {
    for (const id of ['eval-a', 'eval-b']) await models.getOrCreate({ id, lastStartedAt: 1 }, { ...called, ...asking })
  }
  const sweep = () =>
    sweepGenerationJobs({ generationJobs, models } as unknown as Parameters<typeof sweepGenerationJobs>[0])
  await ask()
  await sweep()
  await ask()
  expect(asked).toEqual(['eval-a', 'eval-b'])
  active.delete('eval-a')
  await sweep()
  expect([...models.listJobIds()]).toEqual(['eval-b'])
  await ask()
  expect(asked).toEqual(['eval-a', 'eval-b', 'eval-a'])
  models.closeAll()
})
