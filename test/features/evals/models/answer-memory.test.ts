/** Models whose answers are too large or never end: each is stopped by its size or its time, and a worker reads few at once. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { afterEach, expect, it } from 'vitest'
import { AnswerMemory, MAX_ANSWER_BYTES } from '../../../../src/features/evals/models/answer-memory.ts'
import { ModelClient } from '../../../../src/features/evals/models/client.ts'
import { createGuardedFetch } from '../../../../src/features/evals/models/guarded-fetch.ts'
import { ModelRequestError } from '../../../../src/features/evals/models/model-errors.ts'

const MIB = 1024 * 1024
const QUESTION = [{ role: 'user' as const, content: 'What is 2 + 2?' }]
const closers: (() => unknown)[] = []
afterEach(() => Promise.all(closers.splice(0).map((close) => close())))

/** A client of a model that writes its answers with the given function. */
async function openModel(write: (response: ServerResponse) => unknown): Promise<ModelClient> {
  const server = createServer((request, response) => {
    request.resume()
    void write(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const fetch = createGuardedFetch({ allow_loopback: true, allowed_hosts: [] })
  closers.push(
    () => fetch.close(),
    () => server.closeAllConnections(),
    () => server.close(),
  )
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return new ModelClient({ name: 'm', base_url }, fetch)
}

function ask(client: ModelClient, { memory = new AnswerMemory(), timeout_s = 30 } = {}) {
  const params = { temperature: null, timeout_s, retries: 0 }
  const { signal } = new AbortController()
  return memory.hold(MAX_ANSWER_BYTES, (hold) => client.complete(QUESTION, params, { signal, hold }))
}

async function writeWithoutEnd(response: ServerResponse): Promise<void> {
  const chunk = 'x'.repeat(MIB / 4)
  function* repeat() {
    for (;;) yield chunk
  }
  await pipeline(repeat, response).catch(() => {}) // the client closed the connection
}

it('an answer without end fails by its size, and its connection is closed', async () => {
  const closed = Promise.withResolvers<void>()
  const client = await openModel((response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices":[{"message":{"content":"')
    return writeWithoutEnd(response).then(closed.resolve)
  })
  await expect(ask(client)).rejects.toThrow(`the response is over ${MAX_ANSWER_BYTES} bytes`)
  await closed.promise
})

it('an answer that is nested too deeply to be stored fails', async () => {
  const calls = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const client = await openModel((response) =>
    response.end(`{"choices":[{"message":{"content":"yes","tool_calls":${calls}}}]}`),
  )
  await expect(ask(client)).rejects.toThrow('the response is nested too deeply')
})

it('an error message without end is cut off', async () => {
  const client = await openModel((response) => writeWithoutEnd(response.writeHead(400)))
  await expect(ask(client)).rejects.toThrow(ModelRequestError)
})

it('the timeout also ends an answer that has begun', async () => {
  const client = await openModel((response) => {
    response.writeHead(200).write('{"choices":[')
    const drip = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(drip))
  })
  await expect(ask(client, { timeout_s: 0.3 })).rejects.toThrow('no response within the timeout')
})

it('of 64 large answers at once, only as many are read as the memory holds; small ones do not wait', async () => {
  const answer = JSON.stringify({ choices: [{ message: { content: 'x'.repeat(MIB) }, finish_reason: 'stop' }] })
  const ends: (() => void)[] = []
  let isSmall = false
  const client = await openModel((response) => {
    response.writeHead(200)
    if (isSmall) return response.end('{"choices":[{"message":{"content":"4"}}]}')
    response.write(answer.slice(0, MIB / 2))
    return ends.push(() => response.end(answer.slice(MIB / 2)))
  })
  const memory = new AnswerMemory(3 * MAX_ANSWER_BYTES)
  const seen = { held: 0, most: 0 }
  const large = Array.from({ length: 64 }, () =>
    memory.hold(MAX_ANSWER_BYTES, async (hold) => {
      const reserve = async (signal?: AbortSignal) => {
        await hold.reserve(signal)
        seen.most = Math.max(seen.most, ++seen.held)
      }
      const params = { temperature: null, timeout_s: 60, retries: 0 }
      const context = { signal: new AbortController().signal, hold: { reserve } }
      const { content } = await client.complete(QUESTION, params, context)
      seen.held--
      return content.length
    }),
  )
  await expect.poll(() => [ends.length, seen.held], { timeout: 20_000 }).toEqual([64, 3])
  isSmall = true
  expect(await ask(client, { memory })).toMatchObject({ content: '4' })
  for (const end of ends) end()
  expect(await Promise.all(large)).toEqual(Array(64).fill(MIB))
  expect(seen).toEqual({ held: 0, most: 3 })
})

it('a wait for memory ends with the timeout, and takes none', async () => {
  const memory = new AnswerMemory(MAX_ANSWER_BYTES)
  const gate = Promise.withResolvers<void>()
  const held = memory.hold(MAX_ANSWER_BYTES, async ({ reserve }) => {
    await reserve()
    await gate.promise
  })
  const wait = memory.hold(MAX_ANSWER_BYTES, ({ reserve }) => reserve(AbortSignal.timeout(50)))
  await expect(wait).rejects.toMatchObject({ name: 'TimeoutError' })
  gate.resolve()
  await held
  await memory.hold(MAX_ANSWER_BYTES, ({ reserve }) => reserve())
})
