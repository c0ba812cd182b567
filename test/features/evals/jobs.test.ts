import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { closeIdleModels } from '../../../src/features/evals/jobs.ts'
import { ModelClients } from '../../../src/features/evals/models/clients.ts'
import { ModelClientClosedError } from '../../../src/features/evals/models/model-errors.ts'
import type { GenerationJob } from '../../../src/features/evals/records.ts'
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

it('a request whose client is closed is not a request that the model failed', async () => {
  const arrivals: (() => void)[] = []
  const arrived = [0, 1].map(() => new Promise<void>((resolve) => arrivals.push(resolve)))
  let requests = 0
  const server = createServer((request, response) => {
    request.resume()
    arrivals[requests++]?.()
    if (requests === 2) response.writeHead(500, { 'retry-after': '60' }).end() // the first gets no answer
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const generationJobs = { getModelApiKey: async () => undefined, hasModelAnswered: async () => false }
  const modelClients = new ModelClients(generationJobs)
  const model = {
    name: 'm',
    base_url,
    egress_policy: { allow_loopback: true, allowed_hosts: [] },
    params: { temperature: null, timeout_s: 30, retries: 1 },
    concurrency: 2,
  }
  const job = { id: 'eval-a', created_at: 1, resumed_at: null } as GenerationJob
  const request = { job, model, messages: [], seedOffset: 0, hold: { reserve: async () => {} } }
  const ask = () => {
    const { signal } = new AbortController()
    return modelClients.complete({ ...request, signal }).catch((error: unknown) => error)
  }
  const inFlight = ask()
  await arrived[0]
  const waitingToRetry = ask()
  await arrived[1]
  await new Promise((resolve) => setTimeout(resolve, 200)) // until it waits
  modelClients.close('eval-a')
  expect(await Promise.all([inFlight, waitingToRetry])).toEqual([
    expect.any(ModelClientClosedError),
    expect.any(ModelClientClosedError),
  ])
  server.closeAllConnections()
  server.close()
})
