/** Models that cannot be called: the reason in words, after a short chance to start, and never because of one sample. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { ModelClient } from '../../../../src/features/evals/models/client.ts'
import { createGuardedFetch } from '../../../../src/features/evals/models/guarded-fetch.ts'
import { ModelRequestError, ModelUnavailableError } from '../../../../src/features/evals/models/model-errors.ts'

const PARAMS = { temperature: null, timeout_s: 5, retries: 0 }
const QUESTION = [{ role: 'user' as const, content: 'What is 2 + 2?' }]
const closers: (() => unknown)[] = []
afterEach(() => Promise.all(closers.splice(0).map((close) => close())))

async function listen(answer: (body: string) => { status: number; body: object }, port = 0): Promise<number> {
  const server: Server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { status, body } = answer(text)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  closers.push(() => server.close())
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function findFreePort(): Promise<number> {
  const port = await listen(() => ({ status: 200, body: {} }))
  await closers.pop()?.()
  return port
}

function complete(
  port: number,
  { firstConnectionMs = 1_000, hasAnswered = false, apiKey = 'key', hidesReplies = false } = {},
) {
  const fetch = createGuardedFetch({ allow_loopback: true, allowed_hosts: [] })
  closers.push(() => fetch.close())
  const endpoint = { name: 'm', base_url: `http://127.0.0.1:${port}/v1`, api_key: apiKey }
  const options = { hidesReplies, firstConnectionMs, hasAnsweredElsewhere: () => Promise.resolve(hasAnswered) }
  return new ModelClient(endpoint, fetch, options).complete(QUESTION, PARAMS, {
    signal: AbortSignal.timeout(20_000),
    hold: { reserve: async () => {} },
  })
}

const RIGHT = { status: 200, body: { choices: [{ message: { content: '4' }, finish_reason: 'stop' }] } }
const refusal = (status: number, message: string) => ({ status, body: { error: { message } } })

it('nothing listens: the job cannot go on, and the reason names host and port', async () => {
  const port = await findFreePort()
  await expect(complete(port, { firstConnectionMs: 200 })).rejects.toThrow(ModelUnavailableError)
  await expect(complete(port, { firstConnectionMs: 200 })).rejects.toThrow(
    `The model m cannot be reached at 127.0.0.1:${port}: nothing accepts connections there`,
  )
})

it('fetch refuses the port: the job cannot go on, and the reason says so at once', async () => {
  await expect(complete(6000)).rejects.toThrow(
    'The model m at 127.0.0.1:6000 cannot be called: fetch calls no server at this port. Correct base_url.',
  )
})

it('a server that accepts its first connection a little later gets the request', async () => {
  const port = await findFreePort()
  const completion = complete(port, { firstConnectionMs: 5_000 })
  setTimeout(() => void listen(() => RIGHT, port), 400)
  expect(await completion).toMatchObject({ content: '4' })
})

it('a model that has answered another process is only away: that sample fails, and not the job', async () => {
  const port = await findFreePort()
  const failure = complete(port, { firstConnectionMs: 100, hasAnswered: true })
  await expect(failure).rejects.toThrow(ModelRequestError)
})

it.each([
  [401, 'expired', 'rejects the API key (HTTP 401 expired)'],
  [403, 'not yours', 'rejects the API key (HTTP 403 not yours)'],
  [404, 'no model m', 'has no model m'],
])('HTTP %i to every request is said in words', async (status, message, expected) => {
  const port = await listen(() => refusal(status, message))
  await expect(complete(port)).rejects.toThrow(ModelUnavailableError)
  await expect(complete(port)).rejects.toThrow(expected)
})

it('without the role admin, nobody learns what a host replies or how it fails', async () => {
  const hidden = (port: number, hasAnswered = false) =>
    complete(port, { firstConnectionMs: 200, hasAnswered, hidesReplies: true }).catch((error: Error) => error.message)
  const port = await findFreePort()
  expect(await hidden(port)).toBe(
    `The model m cannot be reached at 127.0.0.1:${port}. Start its server and resume, or correct base_url.`,
  )
  expect(await hidden(port, true)).toBe("the model's server cannot be reached")
  const replies = [
    refusal(404, 'SECRET'),
    refusal(400, 'SECRET'),
    { status: 200, body: { secret: 'SECRET' } },
    { status: 200, body: { error: 'SECRET' } },
    { status: 200, body: { choices: [{ message: {}, error: 'SECRET' }] } },
  ]
  for (const reply of replies) {
    const detail = await hidden(await listen(() => reply))
    expect(detail).toMatch(/HTTP 40[04]|is not a chat completion|server failed/)
    expect(detail).not.toContain('SECRET')
  }
})

it('a refusal of one sample is that sample’s failure', async () => {
  const port = await listen((body) => (body.includes('2 + 2') ? refusal(403, 'flagged') : RIGHT))
  await expect(complete(port)).rejects.toThrow(ModelRequestError)
})
