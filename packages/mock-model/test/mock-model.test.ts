/** The model on its own: a function in place of a server knows the items. */
import OpenAI, { type APIError } from 'openai'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drawOutcome, MockModelBehavior } from '../src/behavior.ts'
import type { KnownItem } from '../src/item-lookup.ts'
import { type MockModelOptions, startMockModel } from '../src/mock-model.ts'

const ITEM: KnownItem & { question: string } = {
  id: 'gcd.9.0',
  task: 'gcd',
  difficulty: null,
  answer: '12',
  metadata: {},
  question: 'Find the Greatest Common Divisor (GCD) of these numbers: 24, 36.',
}

const closers: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closers) await close()
})

async function open(options: Omit<MockModelOptions, 'server'> = {}) {
  const model = await startMockModel({
    server: async (text) => (text.endsWith(ITEM.question) ? ITEM : undefined),
    ...options,
  })
  closers.push(() => model.close())
  const client = new OpenAI({ baseURL: model.url, apiKey: options.apiKey ?? 'any', maxRetries: 0 })
  const ask = (body: object = {}) =>
    client.chat.completions.create({
      model: 'mock',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: ITEM.question },
      ],
      stream: false,
      ...body,
    })
  return { ...model, client, ask }
}

describe('the mock model', () => {
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
    const one = await open()
    const other = await open()
    const text = (answer: OpenAI.ChatCompletion) => answer.choices.map(({ message }) => message.content)
    expect(text(await one.ask({ seed: 7 }))).toEqual(text(await other.ask({ seed: 7 })))
    const counted = [...text(await one.ask()), ...text(await one.ask({ n: 2 }))]
    expect(new Set(counted).size).toBe(3)
    const seeds = [0, 1, 2].map(async (seed) => text(await other.ask({ seed }))[0])
    expect(counted).toEqual(await Promise.all(seeds))
  })

  it('gives token ids, log probabilities and counts that agree', async () => {
    const model = await open()
    const answer = (await model.ask({ logprobs: true, return_token_ids: true })) as OpenAI.ChatCompletion & {
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
    const model = await open({ reasoning: 'reasoning_content', accuracy: 1 })
    const whole = z
      .object({ content: z.string(), reasoning_content: z.string() })
      .parse((await model.ask({ seed: 1 })).choices[0]?.message)
    expect(whole.content).toMatch(/^<answer>.*<\/answer>$/)
    expect(whole.reasoning_content.length).toBeGreaterThan(20)
    const stream = await model.client.chat.completions.create({
      model: 'mock',
      messages: [{ role: 'user', content: ITEM.question }],
      stream: true,
      seed: 1,
    })
    let content = ''
    for await (const { choices } of stream) content += choices[0]?.delta.content ?? ''
    expect(content).toBe(whole.content)
  })

  it('stops at max_tokens', async () => {
    const { choices, usage } = await (await open()).ask({ max_tokens: 12 })
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

describe('what befalls its requests', () => {
  const meets = async (options: Omit<MockModelOptions, 'server'>) => {
    const model = await open(options)
    const error = (await model.ask().catch((caught: unknown) => caught)) as APIError
    return { model, error }
  }

  it('429 with Retry-After, and 500', async () => {
    const limited = (await meets({ rateLimits: 1, retryAfterS: 7 })).error
    expect([limited.status, limited.headers?.get('retry-after')]).toEqual([429, '7'])
    expect((await meets({ serverErrors: 1 })).error.status).toBe(500)
    expect((await meets({ rejections: 1 })).error.status).toBe(400)
  })

  it('half a document, and connections that are closed before and in the answer', async () => {
    expect((await meets({ brokenJson: 1 })).error).toBeInstanceOf(SyntaxError)
    const { model, error } = await meets({ closedConnections: 1 })
    expect(error).toBeInstanceOf(OpenAI.APIConnectionError)
    await expect(model.ask()).rejects.toThrow()
    expect(model.counts).toMatchObject({ requests: 2, closed: 2, right: 0, wrong: 0 })
  })
})
