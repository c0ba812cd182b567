/** What a caller without the role admin learns of a host that is not a model: nothing of its reply. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { loadKeyRing } from '../../../src/http/auth/key-ring.ts'
import { openWorld, until } from '../../world.ts'

it('only an admin who starts an eval sees what its host replies', async () => {
  const keyRing = loadKeyRing({ API_KEYS: 'evaluator:one,admin:two', API_KEYS_FILE: undefined })
  const world = await openWorld({ worker: true, keyRing })
  const server = createServer((_request, response) => response.end('{"internal": "SECRET"}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const evaluate = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` }
    const input = { model: { name: 'm', base_url }, retries: 0, suite: { tasks: ['gcd'], n: 1 } }
    const { body } = await world.call('POST', '/eval', input, headers)
    const done = await until(
      async () => (await world.call('GET', `/eval/${body.id}`, undefined, headers)).body,
      ({ status }) => status !== 'queued' && status !== 'running',
      60_000,
    )
    const samples = await world.call('GET', `/eval/${body.id}/samples`, undefined, headers)
    return JSON.stringify([done, samples.body])
  }
  const [seen, hidden] = [await evaluate('two'), await evaluate('one')]
  expect(seen).toContain('SECRET')
  expect(hidden).toContain('the response is not a chat completion')
  expect(hidden).not.toContain('SECRET')
  server.close()
  await world.close()
})

it('a server with keys does not call loopback, unless MODEL_HOSTS names it', async () => {
  const input = { model: { name: 'm', base_url: 'http://127.0.0.1:9/v1' }, suite: { tasks: ['gcd'], n: 1 } }
  const post = async (MODEL_HOSTS: string[]) => {
    const world = await openWorld({ API_KEYS: 'admin:two', MODEL_HOSTS })
    const { status } = await world.call('POST', '/eval', input)
    await world.call('PUT', '/runs/r', {})
    const collection = await world.call('POST', '/runs/r/collect', { model: input.model, groups: 1 })
    await world.close()
    return [status, collection.status]
  }
  expect(await post([])).toEqual([400, 400])
  expect(await post(['127.0.0.1'])).toEqual([202, 202])
})
