import { afterAll, beforeAll, expect, it } from 'vitest'
import { HANGING, openWorld, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const recipe = { task: 'leg_counting', seed: 42 } // its answer is 100
const score = async (body: unknown) => (await world.call('POST', '/score', body)).body
const tagged = (answer: string) => `<think>so</think><answer>${answer}</answer>`

it('gives a verdict for each rollout, in order, whatever the items', async () => {
  const other = { task: 'gcd', seed: 1 }
  const { rewards, verdicts } = await score({
    rollouts: [
      { recipe, completion: tagged('100') },
      { recipe: other, completion: 'none' },
      { recipe, answer: '100' },
      {
        recipe,
        messages: [
          { role: 'user', content: 'q' },
          { role: 'assistant', content: tagged('100') },
        ],
      },
      { recipe, completion: tagged('1000') },
    ],
  })
  expect(rewards).toEqual([1, 0, 1, 1, 0.75])
  expect(verdicts[0]).toEqual({
    status: 'scored',
    reward: 1,
    score: 1,
    answer: '100',
    fault: null,
    components: { correct: 1, format: 1, length_penalty: 0, try_discount: 0 },
  })
  expect(verdicts[1]).toMatchObject({ score: 0, answer: null, fault: 'no_answer' })
})

it('says what is wrong on request, and of a right answer nothing', async () => {
  const sums = { task: 'countdown', seed: 7 } // 169 of 83, 94, 74, 90 and 40
  const ask = async (feedback: string, extra = {}) => {
    const rollouts = [
      { recipe: sums, answer: '40*(94 - 90) + 83 - 74' },
      { recipe: sums, answer: '83 + 83 + 74 - 90 + 40' },
      { recipe: sums, answer: 'about 169' },
      { recipe: sums, completion: '<answer>1</answer><answer>2</answer>' },
      { recipe, answer: '99' },
    ]
    const { verdicts } = await score({ rollouts, feedback, ...extra })
    return verdicts.map((verdict: { feedback?: unknown }) => verdict.feedback)
  }
  expect(await ask('none')).toEqual([undefined, undefined, undefined, undefined, undefined])
  const wrong = { kind: 'wrong', text: 'The answer is wrong.' }
  const form = {
    kind: 'format',
    text: 'The answer must be one expression of numbers, + - * / and brackets, but it is `about 169`.',
  }
  const tags = {
    kind: 'format',
    text: 'The reply must have exactly one <answer>…</answer>, but it has <answer> 2 times and </answer> 2 times.',
  }
  expect(await ask('format')).toEqual([undefined, wrong, form, tags, wrong])
  const rule = { kind: 'rule', text: 'The expression uses 83 more often than it is given.' }
  expect(await ask('rule')).toEqual([undefined, rule, form, tags, wrong])
  expect(await ask('rule', { scoring: 'hardened' })).toEqual([undefined, rule, form, tags, wrong])
  const longLadder = `DRUM,${'DRUX,'.repeat(1000)}NOUN` // explained on a thread
  const { verdicts } = await score({
    rollouts: [{ recipe: { task: 'word_ladder', seed: 7 }, answer: longLadder }],
    feedback: 'rule',
  })
  expect(verdicts[0].feedback).toMatchObject({ kind: 'rule', where: { item: 2 } })
})

it('cuts what a feedback quotes of a long answer', async () => {
  const rollouts = [{ recipe: { task: 'gcd', seed: 1 }, answer: `-${'9'.repeat(900)}` }]
  const { verdicts } = await score({ rollouts, feedback: 'rule' })
  expect(verdicts[0].feedback.text).toMatch(/^A greatest common divisor is at least 1, but the answer is -9+…$/)
  expect(verdicts[0].feedback.text).toHaveLength(500)
})

it('of several turns the first right one decides, and each before it lowers the reward', async () => {
  const turns = ['about a hundred', tagged('99'), tagged('100'), tagged('98')]
  const rollouts = [turns, turns.slice(0, 2), turns.slice(2, 3)].map((some) => ({ recipe, turns: some }))
  const { rewards, verdicts } = await score({ rollouts, feedback: 'rule', try_discount: 0.5 })
  expect(rewards).toEqual([0.25, 0, 1])
  expect(verdicts[0]).toMatchObject({ score: 1, answer: '100', fault: null })
  expect(verdicts.map(({ components }: { components: unknown }) => components)).toEqual([
    { correct: 1, format: 1, length_penalty: 0, try_discount: -0.75 },
    { correct: 0, format: 1, length_penalty: 0, try_discount: 0 },
    { correct: 1, format: 1, length_penalty: 0, try_discount: 0 },
  ])
  expect(verdicts[0].turns).toMatchObject([
    { score: 0, fault: 'no_answer', feedback: { kind: 'format' } },
    { score: 0, answer: '99', feedback: { kind: 'wrong' } },
    { score: 1, answer: '100' },
  ])
  expect(verdicts[1].turns).toHaveLength(2)
  expect(verdicts[2].turns).toHaveLength(1)
})

it('asks the scorer once for equal answers to one item', async () => {
  const item = { task: 'zebra_puzzles', seed: 1 }
  await score({
    rollouts: Array.from({ length: 32 }, (_, k) => ({ recipe: item, answer: k % 2 ? 'left' : 'right' })),
    dual_format: false,
  })
  await world.features.tasks.statistics.flush()
  expect(await world.platform.redis.hget(world.platform.keys.key('task-statistics'), 'zebra_puzzles:answers')).toBe('2')
  expect((await world.call('GET', '/tasks/zebra_puzzles')).body.statistics.rollouts).toBe(32)
})

it('takes groups of completions, flat in the same order', async () => {
  const { rewards } = await score({
    groups: [
      { recipe, completions: [tagged('100'), 'x'] },
      { recipe: { task: 'gcd', seed: 1 }, completions: ['y'] },
    ],
  })
  expect(rewards).toEqual([1, 0, 0])
})

it('leaves the verdicts out for those who only want rewards', async () => {
  expect(await score({ rollouts: [{ recipe, answer: '100' }], detail: 'rewards' })).toEqual({ rewards: [1] })
})

it('reads the thinking that came apart, the last assistant message, and parts of text', async () => {
  const messages = (...all: unknown[]) => ({ recipe, messages: all })
  const { rewards, verdicts } = await score({
    rollouts: [
      messages({ role: 'assistant', content: '</think><answer>100</answer>', reasoning_content: 'so' }),
      messages({
        role: 'assistant',
        content: [
          { type: 'text', text: '<answer>10' },
          { type: 'text', text: '0</answer>' },
        ],
      }),
      messages(
        { role: 'assistant', content: tagged('100') },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: {} }] },
      ),
      messages({ role: 'user', content: tagged('100') }),
    ],
  })
  expect(rewards).toEqual([1, 1, 1, 0])
  expect(verdicts[3].fault).toBe('no_answer')
})

it('the fault of an answer on which the scorer raises is the model’s; an answer that is too long too', async () => {
  const factors = { task: 'prime_factorization', seed: 1 }
  const { verdicts } = await score({
    rollouts: [
      { recipe: factors, answer: 'x' },
      { recipe, answer: '1'.repeat(65_537) },
      { recipe, answer: '😀'.repeat(65_536) },
    ],
  })
  expect(verdicts.map(({ fault }: { fault: string }) => fault)).toEqual(['invalid_answer', 'answer_too_long', null])
})

it('an answer that hangs the scorer is unscored; the others of its call are scored', async () => {
  const quick = await openWorld({ SCORE_DEADLINE_MS: 5000 })
  try {
    const hang = { task: HANGING.task, seed: 1 }
    const { body } = await quick.call('POST', '/score', {
      dual_format: false,
      rollouts: [
        { recipe: hang, answer: HANGING.answer },
        { recipe: hang, answer: 'x' },
        { recipe, answer: '100' },
      ],
    })
    expect(body.verdicts[0]).toMatchObject({ status: 'unscored', code: 'scorer_timeout', reward: null, score: null })
    expect(body.verdicts[1].status).toBe('scored')
    expect(body.rewards[2]).toBe(1)
  } finally {
    await quick.close()
  }
})

it('hardened closes the library’s holes, for a call as for a run', async () => {
  const halting = { recipe: { task: 'game_of_life_halting', seed: 3 }, answer: 'any text' }
  expect(await score({ rollouts: [halting], detail: 'rewards' })).toEqual({ rewards: [1] })
  expect(await score({ rollouts: [halting], detail: 'rewards', scoring: 'hardened' })).toEqual({ rewards: [0] })
  expect(
    await score({ rollouts: [{ recipe, answer: '\\boxed{100.0}' }], detail: 'rewards', scoring: 'hardened' }),
  ).toEqual({ rewards: [1] })
})

it('refuses work while the library cannot be started, and lists the tasks all the same', async () => {
  const down = await openWorld({ python: '/usr/bin/false' })
  try {
    expect((await down.call('GET', '/tasks')).body).toMatchObject({ source: 'fallback', total: 105 })
    expect((await down.call('GET', '/tasks/gcd')).body).toMatchObject({
      name: 'gcd',
      config_schema: null,
      example: null,
    })
    const ready = await down.call('GET', '/readyz')
    expect(ready).toMatchObject({
      status: 503,
      body: { status: 'not_ready', redis: { ok: true }, engine: { ok: false, detail: expect.any(String) } },
    })
    await down.call('PUT', '/runs/x', {})
    for (const [url, body] of [
      ['/score', { rollouts: [{ recipe, answer: '1' }] }],
      ['/items', { task: 'gcd' }],
      ['/items', { run: 'x' }],
    ] as const) {
      const refused = await down.call('POST', url, body)
      expect(refused.body.code).toBe('engine_unavailable')
      expect(refused.headers['retry-after']).toBeDefined()
    }
  } finally {
    await down.close()
  }
})
