import type { Item } from '@reasoning-gym-server/contract/item'
import { getCorrectAnswer, WRONG_ANSWER } from '@reasoning-gym-server/mock-model/answers'
import { drawOutcome, MockModelBehavior } from '@reasoning-gym-server/mock-model/behavior'
import { KnownItem } from '@reasoning-gym-server/mock-model/item-lookup'
import { type MockModelOptions, startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorld, type World } from '../world.ts'

let world: World
const closers: (() => Promise<void>)[] = []
beforeAll(async () => {
  world = await openWorld()
})
afterAll(async () => {
  for (const close of closers) await close()
  await world.close()
})

/** What a server on a port would say. */
const knowledge = async (text: string) => {
  const { status, body } = await world.call('POST', '/items/find', { text })
  return status === 404 ? undefined : KnownItem.parse(body)
}

async function open(options: Omit<MockModelOptions, 'server'> = {}) {
  const model = await startMockModel({ server: knowledge, ...options })
  closers.push(model.close)
  const client = new OpenAI({ baseURL: model.url, apiKey: options.apiKey ?? 'any', maxRetries: 0 })
  const ask = (item: Item, body: object = {}) =>
    client.chat.completions.create({ model: 'mock', messages: item.messages, stream: false, ...body })
  return { ...model, ask }
}

async function itemsOf(recipe: object): Promise<Item[]> {
  return (await world.call('POST', '/items', recipe)).body.items
}

async function scoresOf(pairs: { item: Item; completion: string }[]): Promise<number[]> {
  const rollouts = pairs.map(({ item, completion }) => ({ item_id: item.id, completion }))
  return (await world.call('POST', '/score', { rollouts, detail: 'rewards' })).body.rewards
}

describe('the item of a question', () => {
  it('is found with its answer, whatever prompt stands before it', async () => {
    const [item] = await itemsOf({ task: 'gcd', seed: 5 })
    for (const text of [item?.question, `Be brief.\n\nAnd right.\n\n${item?.question}`]) {
      const { body } = await world.call('POST', '/items/find', { text })
      expect(body).toMatchObject({ id: item?.id, answer: expect.any(String), metadata: expect.any(Object) })
    }
  })

  it('is not found for a text that nobody was shown', async () => {
    expect(await world.call('POST', '/items/find', { text: 'Who is there?' })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    })
  })
})

describe('the mock model', () => {
  it('is right exactly where its outcomes say so', async () => {
    const behaviour = { accuracy: 0.6, formatFaults: 0.2, truncations: 0.1, seed: 3 }
    const model = await open(behaviour)
    const items = await itemsOf({ task: 'gcd', seed: 1, count: 40 })
    const completions = await Promise.all(items.map((item) => model.ask(item)))
    const scores = await scoresOf(
      items.map((item, k) => ({ item, completion: completions[k]?.choices[0]?.message.content ?? '' })),
    )
    const outcomes = items.map((item) =>
      drawOutcome(MockModelBehavior.parse(behaviour), { ...item, answer: '1', metadata: {} }, 0),
    )
    expect(scores).toEqual(outcomes.map(({ kind }) => (kind === 'right' ? 1 : 0)))
    const kinds = Map.groupBy(outcomes, ({ kind }) => kind)
    expect(model.counts).toMatchObject({
      requests: 40,
      right: kinds.get('right')?.length,
      wrong: kinds.get('wrong')?.length,
      truncated: kinds.get('truncated')?.length,
      format_fault: kinds.get('format_fault')?.length,
    })
    for (const [k, { kind }] of outcomes.entries())
      expect(completions[k]?.choices[0]?.finish_reason).toBe(kind === 'truncated' ? 'length' : 'stop')
    expect(kinds.size).toBe(4)
  })

  it('does not use up samples: with retries every item has the scores of its outcomes', async () => {
    const behaviour = {
      accuracy: 0.5,
      rateLimits: 0.2,
      retryAfterS: 0,
      serverErrors: 0.2,
      brokenJson: 0.1,
      closedConnections: 0.2,
    }
    const model = await open(behaviour)
    const items = await itemsOf({ task: 'lcm', seed: 1, count: 10 })
    const asked = items.flatMap((item) => [0, 1, 2].map(() => item))
    const insist = async (item: Item): Promise<string> => {
      for (;;) {
        const answer = await model.ask(item).catch(() => undefined)
        if (answer) return answer.choices[0]?.message.content ?? ''
      }
    }
    const completions = await Promise.all(asked.map(insist))
    const scores = await scoresOf(asked.map((item, k) => ({ item, completion: completions[k] ?? '' })))
    const known = (item: Item) => ({ ...item, answer: '1', metadata: {} })
    const expected = items.flatMap((item) =>
      [0, 1, 2].map((k) => drawOutcome(MockModelBehavior.parse(behaviour), known(item), k).kind === 'right'),
    )
    expect(scores.filter((score) => score === 1)).toHaveLength(expected.filter(Boolean).length)
    const { rate_limited, server_error, broken_json, closed, requests } = model.counts
    expect(requests).toBe(30 + rate_limited + server_error + broken_json + closed)
    expect(Math.min(rate_limited, server_error, broken_json, closed)).toBeGreaterThan(0)
  })
})

describe('its answers', () => {
  // One item each of the tasks without an answer of their own, and of some whose scorers are generous.
  it.each([
    'graph_color',
    'propositional_logic',
    'rubiks_cube',
    'rush_hour',
    'boxnet',
    'figlet_font',
    'palindrome_generation',
  ])('%s: the right one earns full marks, the wrong one does not', async (task) => {
    for (const item of await itemsOf({ task, seeds: [1, 2, 3] })) {
      const answer = getCorrectAnswer(KnownItem.parse(await knowledge(item.question)))
      const completions = [answer, WRONG_ANSWER].map((text) => `<answer>${text}</answer>`)
      const [right, wrong] = await scoresOf(completions.map((completion) => ({ item, completion })))
      expect(right).toBe(1)
      expect(wrong).toBeLessThan(0.3)
    }
  })
})
