import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { run } from './run-here.ts'

const ID = 'duel-0123456789abcdef0123'

/** What the command sends to resume a duel whose models are at these addresses. */
async function resume(addresses: { a: string; b: string }, ...keys: string[]): Promise<unknown> {
  const duel = {
    id: ID,
    status: 'cancelled',
    alpha: 0.05,
    a: { name: 'new', base_url: addresses.a },
    b: { name: 'old', base_url: addresses.b },
  }
  let sent: unknown
  const server = createServer(async (request, response) => {
    if (request.url === `/duels/${ID}/resume`) sent = await json(request)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(duel))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const env = { REASONING_GYM_URL: `http://127.0.0.1:${port}`, MODEL_API_KEY: '' }
  const { code, stderr } = await run(['duel', '--resume', ID, '--detach', ...keys], { env })
  server.close()
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return sent
}

it('a resumed duel sends a key only to the server that the key is of', async () => {
  const a = 'http://127.0.0.1:9000/v1'
  const b = 'http://127.0.0.1:9001/v1'
  expect(await resume({ a, b }, '--api-key', 'secret')).toEqual({ api_key_a: 'secret' })
  expect(await resume({ a, b: a }, '--api-key', 'secret')).toEqual({ api_key_a: 'secret', api_key_b: 'secret' })
  expect(await resume({ a, b }, '--api-key', 'secret', '--against-api-key', 'other')).toEqual({
    api_key_a: 'secret',
    api_key_b: 'other',
  })
})
