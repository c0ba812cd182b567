/** Evals in which a model gets more than one try at an item. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, until, type World } from '../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

it('with several tries it measures how many wrong samples recover after feedback', async () => {
  const seen: { role: string; content: string }[][] = []
  // Knows no answer at first, and two of three once it reads the feedback.
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const { messages } = JSON.parse(body)
      seen.push(messages)
      const isAgain = messages.some(({ role }: { role: string }) => role === 'assistant')
      const [, a = '', b = ''] = /numbers: (\d+), (\d+)/.exec(JSON.stringify(messages)) ?? []
      const gcd = (x: number, y: number): number => (y === 0 ? x : gcd(y, x % y))
      const answer = isAgain && Number(b) % 3 !== 0 ? gcd(Number(a), Number(b)) : 7919
      const message = { role: 'assistant', content: `<answer>${answer}</answer>` }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const model = { name: 'm', base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
    const suite = { tasks: ['gcd'], n: 12, config: { min_numbers: 2, max_numbers: 2 } }
    const refused = await world.call('POST', '/eval', { model: null, suite, tries: 2 })
    expect(refused.status).toBe(400)
    const { body } = await world.call('POST', '/eval', { model, suite, tries: 2, feedback: 'rule' })
    const { result } = await until(
      async () => (await world.call('GET', `/eval/${body.id}`)).body,
      ({ status }) => status === 'done',
    )
    const { samples } = (await world.call('GET', `/eval/${body.id}/samples?limit=12`)).body
    const right = samples.filter(({ score }: { score: number }) => score === 1).length
    expect(right).toBeGreaterThan(0)
    expect(result.recovery).toMatchObject({ first_try_accuracy: 0, wrong_at_first: 12 })
    expect(result.recovery.rate).toBeCloseTo(right / 12)
    expect(result.accuracy).toBeCloseTo(right / 12)
    const [low, high] = result.recovery.confidence_95
    expect(low < result.recovery.rate && result.recovery.rate < high).toBe(true)
    expect(result.repeat).toMatchObject({ tries: { count: 2, feedback: 'rule' } })
    expect(samples[0]?.messages).toHaveLength(2)
    expect(seen.find((messages) => messages.length > 2)?.at(-1)?.content).toMatch(
      /^7919 does not divide \d+\.\nThink again/,
    )
  } finally {
    server.close()
  }
})

it('after an answer of a megabyte there is no further try', async () => {
  const server = createServer((request, response) => {
    request.resume()
    const message = { role: 'assistant', content: `${'x'.repeat(1024 * 1024)}<answer>7919</answer>` }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const model = { name: 'm', base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
    const { body } = await world.call('POST', '/eval', { model, suite: { tasks: ['gcd'], n: 1 }, tries: 8 })
    await until(
      async () => (await world.call('GET', `/eval/${body.id}`)).body,
      ({ status }) => status === 'done',
    )
    const { samples } = (await world.call('GET', `/eval/${body.id}/samples?limit=1`)).body
    expect(samples[0]).toMatchObject({ status: 'scored', score: 0 })
    expect(samples[0].messages ?? []).toHaveLength(0) // which lists several tries
  } finally {
    server.close()
  }
})
