import type { Item } from '@reasoning-gym-server/contract/item'
import OpenAI, { type APIError } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { getCorrectAnswer, WRONG_ANSWER } from '../../src/mock-model/answers.ts'
import { drawOutcome, MockModelBehavior } from '../../src/mock-model/behavior.ts'
import { KnownItem } from '../../src/mock-model/item-lookup.ts'
import { type MockModelOptions, startMockModel } from '../../src/mock-model/mock-model.ts'
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
  return { ...model, client, ask }
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

  it('is less often right on harder items and tasks', () => {
    const behaviour = MockModelBehavior.parse({
      accuracy: 0.9,
      accuracyAtHardest: 0.1,
      tasks: { gcd: { easiest: 1, hardest: 1 } },
    })
    const right = (task: string, difficulty: number) =>
      Array.from({ length: 500 }, (_, k) =>
        drawOutcome(behaviour, { id: `${task}${difficulty}`, task, difficulty, answer: '1', metadata: {} }, k),
      ).filter(({ kind }) => kind === 'right').length / 500
    expect(right('lcm', 0)).toBeCloseTo(0.9, 1)
    expect(right('lcm', 0.5)).toBeCloseTo(0.5, 1)
    expect(right('lcm', 1)).toBeCloseTo(0.1, 1)
    expect(right('gcd', 1)).toBe(1)
  })

  it('gives the same completion for the same seed, and others for the samples of an item', async () => {
    const [item] = (await itemsOf({ task: 'gcd', seed: 9 })) as [Item]
    const one = await open()
    const other = await open()
    const text = (answer: OpenAI.ChatCompletion) => answer.choices.map(({ message }) => message.content)
    expect(text(await one.ask(item, { seed: 7 }))).toEqual(text(await other.ask(item, { seed: 7 })))
    const counted = [...text(await one.ask(item)), ...text(await one.ask(item, { n: 2 }))]
    expect(new Set(counted).size).toBe(3)
    const seeds = [0, 1, 2].map(async (seed) => text(await other.ask(item, { seed }))[0])
    expect(counted).toEqual(await Promise.all(seeds))
  })

  it('gives token ids, log probabilities and counts that agree', async () => {
    const [item] = (await itemsOf({ task: 'gcd', seed: 9 })) as [Item]
    const model = await open()
    const answer = (await model.ask(item, { logprobs: true, return_token_ids: true })) as OpenAI.ChatCompletion & {
      prompt_token_ids: number[]
    }
    const choice = answer.choices[0] as OpenAI.ChatCompletion.Choice & { token_ids: number[] }
    const logprobs = choice.logprobs?.content ?? []
    expect(logprobs.map(({ token }) => token).join('')).toBe(choice.message.content)
    expect(logprobs.every(({ logprob }) => logprob < 0)).toBe(true)
    expect(choice.token_ids).toHaveLength(logprobs.length)
    expect(answer.usage).toMatchObject({
      completion_tokens: logprobs.length,
      prompt_tokens: answer.prompt_token_ids.length,
    })
  })

  it('puts thinking where it is told to, and streams the same', async () => {
    const [item] = (await itemsOf({ task: 'gcd', seed: 9 })) as [Item]
    const model = await open({ reasoning: 'reasoning_content', accuracy: 1 })
    const whole = z
      .object({ content: z.string(), reasoning_content: z.string() })
      .parse((await model.ask(item, { seed: 1 })).choices[0]?.message)
    expect(whole.content).toMatch(/^<answer>.*<\/answer>$/)
    expect(whole.reasoning_content.length).toBeGreaterThan(20)
    const stream = await model.client.chat.completions.create({
      model: 'mock',
      messages: item.messages,
      stream: true,
      seed: 1,
    })
    let content = ''
    for await (const { choices } of stream) content += choices[0]?.delta.content ?? ''
    expect(content).toBe(whole.content)
  })

  it('stops at max_tokens', async () => {
    const [item] = (await itemsOf({ task: 'gcd', seed: 9 })) as [Item]
    const { choices, usage } = await (await open()).ask(item, { max_tokens: 12 })
    expect(choices[0]?.finish_reason).toBe('length')
    expect(usage?.completion_tokens).toBe(12)
  })

  it('wants its key, lists itself, and answers what it does not know', async () => {
    const model = await open({ apiKey: 'sesame', name: 'tiny' })
    expect((await model.client.models.list()).data[0]?.id).toBe('tiny')
    expect((await fetch(`${model.url}/models`)).status).toBe(401)
    const answer = await model.client.chat.completions.create({
      model: 'tiny',
      messages: [{ role: 'user', content: 'Hello?' }],
    })
    expect(answer.choices[0]?.message.content).toContain('<answer>')
    expect(model.counts).toMatchObject({ unknown: 1, wrong: 1 })
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

describe('what befalls its requests', () => {
  const meets = async (options: Omit<MockModelOptions, 'server'>) => {
    const [item] = (await itemsOf({ task: 'gcd', seed: 9 })) as [Item]
    const model = await open(options)
    const error = (await model.ask(item).catch((caught: unknown) => caught)) as APIError
    return { model, item, error }
  }

  it('429 with Retry-After, and 500', async () => {
    const limited = (await meets({ rateLimits: 1, retryAfterS: 7 })).error
    expect([limited.status, limited.headers?.get('retry-after')]).toEqual([429, '7'])
    expect((await meets({ serverErrors: 1 })).error.status).toBe(500)
    expect((await meets({ rejections: 1 })).error.status).toBe(400)
  })

  it('half a document, and connections that are closed before and in the answer', async () => {
    expect((await meets({ brokenJson: 1 })).error).toBeInstanceOf(SyntaxError)
    const { model, item, error } = await meets({ closedConnections: 1 })
    expect(error).toBeInstanceOf(OpenAI.APIConnectionError)
    await expect(model.ask(item)).rejects.toThrow()
    expect(model.counts).toMatchObject({ requests: 2, closed: 2, right: 0, wrong: 0 })
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
