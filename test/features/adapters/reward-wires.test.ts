/** The reward URLs of OpenRLHF, slime and miles: what trainers send, and what they must get. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADAPTER_TEXTS } from '../../../scripts/reference/adapter-texts.ts'
import { HANGING, openWorld, until, type World } from '../../world.ts'

let world: World
let legs: string // its answer is 100
let hanging: string
const otherVersion = (id: string) => {
  const [task, seed, index, rest = ''] = id.split('.')
  const [, ...more] = JSON.parse(Buffer.from(rest, 'base64url').toString())
  return `${task}.${seed}.${index}.${Buffer.from(JSON.stringify(['0.1.24', ...more])).toString('base64url')}`
}
const tagged = (answer: string) => `<think>so</think><answer>${answer}</answer>`
const PROMPT = '<|im_start|>user\nHow many? Answer like <answer>100</answer>.<|im_end|>\n<|im_start|>assistant\n'

beforeAll(async () => {
  world = await openWorld({ SCORE_DEADLINE_MS: 300, worker: true })
  const makeItem = async (task: string, seed: number): Promise<string> =>
    (await world.call('POST', '/items', { task, seed })).body.items[0].id
  legs = await makeItem('leg_counting', 42)
  hanging = await makeItem(HANGING.task, 1)
})
afterAll(() => world.close())

/** Sends a response for an item as a trainer does, and reads the answer as the trainer does. */
interface RewardUrl {
  url: string
  body(response: string, label: unknown): object
  read(answer: never): { reward: number; unscored: boolean; fault: boolean }
}

const openrlhf: RewardUrl = {
  url: '/openrlhf/get_reward',
  body: (response, label) => ({ query: [`${PROMPT}${response}<|im_end|>`], prompts: [PROMPT], labels: [label] }),
  read: ({ rewards, extra_logs: logs }: { rewards: number[]; extra_logs: Record<string, number[]> }) => ({
    reward: rewards[0] ?? Number.NaN,
    unscored: logs.unscored?.[0] === 1,
    fault: logs.fault?.[0] === 1,
  }),
}
const slime: RewardUrl = {
  url: '/slime/rm?shape=object',
  body: (response, label) => ({ prompt: [{ role: 'user', content: 'How many?' }], response, label, new_field: {} }),
  read: ({ reward, unscored, fault }: { reward: number; unscored: boolean; fault: string | null }) => ({
    reward,
    unscored,
    fault: fault !== null,
  }),
}

describe.each([
  ['openrlhf', openrlhf, '--data.label_key item_id'],
  ['slime', slime, '--label-key item_id'],
])('%s', (name, { url, body, read }, hint) => {
  it('names the option to set to a trainer that sends no item ID', async () => {
    for (const label of ['', null, 7]) {
      const { status, body: problem } = await world.call('POST', url, body(tagged('100'), label))
      expect([status, problem.code, problem.detail]).toEqual([400, 'invalid_request', expect.stringContaining(hint)])
    }
  })

  it.each<[string, string, () => unknown, object]>([
    ['right', tagged('100'), () => legs, { reward: 1, unscored: false, fault: false }],
    ['partly right', tagged('1000'), () => legs, { reward: 0.75, unscored: false, fault: false }],
    ['wrong', tagged('no idea'), () => legs, { reward: 0, unscored: false, fault: false }],
    ['without an answer', 'a hundred', () => legs, { reward: 0, unscored: false, fault: true }],
  ])('a response %s', async (_kind, response, label, wanted) => {
    const answer = await world.call('POST', url, body(response, label()))
    expect([answer.status, read(answer.body as never)]).toEqual([200, wanted])
  })

  it('rewards are floats in JSON, or Python makes tensors of integers', async () => {
    const { payload } = await world.app.inject({ method: 'POST', url, payload: body(tagged('100'), legs) })
    expect(payload).toMatch(/1\.0/)
    expect(payload).not.toMatch(/[[ ][01][,\]}]/)
  })

  it.each<[string, () => string, string, number, string]>([
    ['a scorer that hangs', () => hanging, HANGING.answer, 503, 'server_busy'],
    ['a bad item ID', () => 'no such item', '100', 400, 'invalid_item_id'],
    ['an item ID that is too long', () => 'x'.repeat(5000), '100', 400, 'invalid_item_id'],
    ['another version of the library', () => otherVersion(legs), '100', 409, 'engine_version_mismatch'],
    ['a sample larger than a body may be', () => legs, 'x'.repeat(65 * 1024 * 1024), 413, 'body_too_large'],
  ])('%s is no reward', async (_kind, label, response, status, code) => {
    const sent = { method: 'POST', url, payload: body(tagged(response), label()) } as const
    const answer = await world.app.inject(sent)
    expect([answer.statusCode, answer.json().code]).toEqual([status, code])
    expect(answer.headers['retry-after'] !== undefined).toBe(status === 503)
    if (status !== 503) return
    const zero = await world.call('POST', `${url}${url.includes('?') ? '&' : '?'}unscored=zero`, sent.payload)
    expect(read(zero.body as never)).toEqual({ reward: 0, unscored: true, fault: false })
  })

  it('refuses what is another wire', async () => {
    for (const other of [{}, { rollouts: [] }, 7]) {
      const { status, body: problem } = await world.call('POST', url, other)
      expect([status, problem.code]).toEqual([400, 'invalid_request'])
    }
  })

  it('counts what is unscored by adapter', async () => {
    const { payload } = await world.app.inject('/metrics')
    expect(payload).toMatch(new RegExp(`rgs_unscored_total\\{adapter="${name}",code="scorer_timeout"\\} 1\\n`))
  })
})

it('the settings of the run in the path apply', async () => {
  await world.call('PUT', '/runs/bare', { extraction: 'bare' })
  const bare = await world.call('POST', '/openrlhf/bare/get_reward', openrlhf.body('100', legs))
  expect(bare.body.rewards).toEqual([1])
})

it('a run that does not exist is an error that names similar ones, and is not created', async () => {
  await world.call('PUT', '/runs/my-run', {})
  const wires = {
    '/openrlhf/my-rum/get_reward': openrlhf.body('100', legs),
    '/slime/my-rum/rm': slime.body('100', legs),
    '/runs/my-rum/samples': { samples: [{ item_id: legs, completion: '100' }] },
  }
  for (const [url, body] of Object.entries(wires)) {
    const { status, body: problem } = await world.call('POST', url, body)
    const detail = expect.stringContaining('no run named "my-rum". Did you mean "my-run"?')
    expect({ url, status, problem }).toMatchObject({ url, status: 404, problem: { code: 'unknown_run', detail } })
  }
  expect((await world.call('GET', '/runs/my-rum')).status).toBe(404)
})

const samples: RewardUrl = {
  url: '/samples',
  body: (completion, item_id) => ({ unscored: 'mean', samples: [{ item_id, completion }] }),
  read: ({ rewards, verdicts: [verdict] }: { rewards: number[]; verdicts: { status: string }[] }) => ({
    reward: rewards[0] ?? Number.NaN,
    unscored: verdict?.status === 'unscored',
    fault: false,
  }),
}

describe.each([
  ['openrlhf', openrlhf, (run: string) => `/openrlhf/${run}/get_reward`],
  ['slime', slime, (run: string) => `/slime/${run}/rm?shape=object`],
  ['our clients', samples, (run: string) => `/runs/${run}/samples`],
])('a trainer that needs numbers gets means of real rewards: %s', (name, { body, read }, urlOf) => {
  const spoiled = tagged(HANGING.answer)
  const run = `numbers-${name.replace(' ', '-')}`
  let right: string
  const send = (response: string, id = hanging, to = run) => world.call('POST', urlOf(to), body(response, id))
  const rewardOf = async (response: string, id?: string) => read((await send(response, id)).body as never)
  const getProgress = async (of = run) => (await world.call('GET', `/runs/${of}`)).body.progress
  beforeAll(async () => {
    right = tagged((await world.call('GET', `/items/${hanging}?reveal=true`)).body.answer)
    await world.call('PUT', `/runs/${run}`, { group_size: 4 })
  })

  it('where the scorer hangs first, last and always', async () => {
    const first = rewardOf(spoiled)
    await until(getProgress, ({ open_groups }) => open_groups === 1)
    const siblings = async () => [await rewardOf('x'), await rewardOf(right), await rewardOf(right)]
    expect((await siblings()).map(({ reward }) => reward)).toEqual([0, 1, 1])
    const substitute = { reward: expect.closeTo(2 / 3), unscored: true, fault: false }
    expect(await first).toEqual(substitute)
    await siblings()
    expect(await rewardOf(spoiled)).toEqual(substitute)
    await until(getProgress, ({ scored_groups }) => scored_groups === 2)
    expect(await Promise.all(Array.from({ length: 4 }, () => rewardOf(spoiled)))).toEqual(Array(4).fill(substitute))
    expect((await getProgress()).substituted_rewards).toBe(6)
  })

  it('in a group of one, and a retry before there is a mean', async () => {
    const alone = `${run}-alone`
    await world.call('PUT', `/runs/${alone}`, { group_size: 1 })
    const early = await send(spoiled, hanging, alone)
    expect([early.status, early.body.code, early.headers['retry-after']]).toEqual([503, 'server_busy', '5'])
    await send(right, hanging, alone)
    await until(
      () => getProgress(alone),
      ({ scored_groups }) => scored_groups === 1,
    )
    expect(read((await send(spoiled, hanging, alone)).body as never)).toEqual({
      reward: 1,
      unscored: true,
      fault: false,
    })
  })

  it('never for an item of the library before an upgrade, which is an error', async () => {
    const { status, body: problem } = await send(right, otherVersion(hanging))
    expect([status, problem.code]).toEqual([409, 'engine_version_mismatch'])
  })
})

describe('an unscored sample is rewarded with the mean of its siblings', () => {
  let right: string
  const spoiled = tagged(HANGING.answer)
  const post = async (url: string, response: string): Promise<unknown> =>
    (await world.call('POST', url, slime.body(response, hanging))).body
  const begin = (run: string, group_size: number) => world.call('PUT', `/runs/${run}`, { group_size })
  const getRun = async (run: string) => (await world.call('GET', `/runs/${run}`)).body
  beforeAll(async () => {
    right = tagged((await world.call('GET', `/items/${hanging}?reveal=true`)).body.answer)
  })

  it('once their group is complete, also if the first sibling is wrong', async () => {
    await begin('means', 4)
    const first = post('/slime/means/rm?shape=object', spoiled)
    await until(
      () => getRun('means'),
      ({ progress }) => progress.open_groups === 1,
    )
    expect(await post('/slime/means/rm', 'x')).toBe(0)
    await post('/slime/means/rm', right)
    const samples = [{ item_id: hanging, completion: spoiled }]
    const masked = world.call('POST', '/runs/means/samples', { samples })
    expect(await first).toMatchObject({ reward: 0.5, unscored: true, acc: 0.5 })
    expect((await masked).body).toMatchObject({ rewards: [null], verdicts: [{ status: 'unscored', reward: null }] })
    const { progress, warnings } = await getRun('means')
    expect(progress.substituted_rewards).toBe(1)
    expect(warnings).toMatchObject([{ kind: 'substituted_rewards', task: null }])
  })

  it('or with the mean of the task if all of them are unscored; while there is none, the call fails', async () => {
    await begin('hopeless', 2)
    const samples = [spoiled, spoiled].map((completion) => ({ item_id: hanging, completion }))
    const sendPair = (unscored: string) => world.call('POST', '/runs/hopeless/samples', { samples, unscored })
    expect(await sendPair('mean')).toMatchObject({ status: 503, body: { code: 'server_busy' } })
    const rollouts = [right, 'x', 'x', 'x'].map((completion) => ({ completion }))
    const group = { run: 'hopeless', item_id: hanging, rollouts }
    await world.call('POST', '/rollouts', group, { prefer: 'wait=10' })
    expect((await sendPair('mean')).body.rewards).toEqual([0.25, 0.25])
    expect((await sendPair('null')).body.rewards).toEqual([null, null])
    expect((await getRun('hopeless')).progress.substituted_rewards).toBe(2)
  })

  it('a damaged ID among good ones costs its own sample only', async () => {
    const labels = [legs, 'no such item', legs, null]
    const batch = {
      query: ['100', '100', '7', '100'].map((answer) => PROMPT + tagged(answer)),
      prompts: labels.map(() => PROMPT),
    }
    const { body } = await world.call('POST', '/openrlhf/get_reward', { ...batch, labels })
    expect(body.rewards).toEqual([1, body.rewards[2] / 2 + 0.5, body.rewards[2], body.rewards[2] / 2 + 0.5])
    expect(body.extra_logs.unscored).toEqual([0, 1, 0, 1])
  })
})

it('openrlhf: a batch is scored sample by sample, in order; one of nothing is empty', async () => {
  const query = [tagged('100'), 'x', tagged('1000')].map((response) => PROMPT + response)
  const { body } = await world.call('POST', openrlhf.url, {
    query: [...query, 'the prompt is not here <answer>100</answer>'],
    prompts: Array.from({ length: 4 }, () => PROMPT),
    labels: [legs, legs, legs, legs],
  })
  expect(body).toMatchObject({
    rewards: [1, 0, 0.75, 1.75 / 3],
    scores: [1, 0, 0.75, 1.75 / 3],
    extra_logs: { unscored: [0, 0, 0, 1], no_answer: [0, 1, 0, 0], fault: [0, 1, 0, 0] },
    errors: [{ index: 3, code: 'generation_failed' }],
  })
  const empty = await world.call('POST', openrlhf.url, { query: [], prompts: [], labels: [] })
  expect(empty.body).toEqual({ rewards: [], scores: [], extra_logs: { unscored: [], no_answer: [], fault: [] } })
})

it('a call of thousands of samples leaves time for others, and one of more than any batch has is refused', async () => {
  const list = <T>(length: number, one: (k: number) => T) => Array.from({ length }, (_, k) => one(k))
  const send = (n: number) =>
    world.call('POST', '/openrlhf/get_reward', {
      query: list(n, () => 'x'),
      prompts: list(n, () => ''),
      labels: list(n, (k) => (k === 0 ? legs : `no item ${k}`)),
    })
  let turns = 0
  const count = () => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  const { body } = await send(24_000)
  clearImmediate(next)
  expect(body.extra_logs.unscored).toEqual(list(24_000, (k) => (k === 0 ? 0 : 1)))
  expect(turns).toBeGreaterThan(10)
  expect((await send(32_769)).status).toBe(400)
  expect(
    (
      await world.call(
        'POST',
        '/slime/rm',
        list(32_769, () => ({ response: '' })),
      )
    ).status,
  ).toBe(400)
})

it('slime: an array of samples is answered with an array, a sample with a number', async () => {
  const samples = [slime.body(tagged('100'), legs), slime.body(tagged('1000'), legs)]
  expect((await world.call('POST', '/slime/rm', samples)).body).toEqual([1, 0.75])
  expect((await world.call('POST', '/slime/rm', [])).body).toEqual([])
  expect((await world.call('POST', '/slime/rm', samples[1])).body).toBe(0.75)
})

it('the turns of a sample are as many tries as the run allows', async () => {
  await world.call('PUT', '/runs/tries', { tries: 2, try_discount: 0.5, length_penalty: false })
  const [wrong, right] = [tagged('7'), tagged('100')]
  const score = async (path: string, turns: string[]) =>
    (await world.call('POST', path, { samples: [{ item_id: legs, turns }] })).body.verdicts[0]
  expect(await score('/runs/tries/samples', [wrong, right])).toMatchObject({ reward: 0.5, score: 1, answer: '100' })
  expect(await score('/runs/tries/samples', [right, wrong])).toMatchObject({ reward: 1, score: 1 })
  expect((await score('/runs/tries/samples', [wrong, wrong, right])).score).toBeLessThan(1) // the third is one too many
  expect(await score('/samples', [wrong, right])).toMatchObject({ reward: 1, answer: '100' }) // only the last
})

it('the length of a sample is that of the penalty of the run', async () => {
  await world.call('PUT', '/runs/dapo', {
    max_token_length: 100,
    length_penalty: { kind: 'dapo', buffer: 50, factor: 1 },
    mask_too_long_completions: false,
  })
  const samples = [{ item_id: legs, completion: tagged('100'), length_tokens: 75 }]
  const { body } = await world.call('POST', '/runs/dapo/samples', { samples })
  expect(body.verdicts[0]).toMatchObject({ score: 1, reward: 0.5, components: { correct: 1, length_penalty: -0.5 } })
})

it('the example rows of the folder for Gym are rows of this server', async () => {
  const folder = '../../../clients/python/nemo_gym/resources_servers/reasoning_gym_server/'
  const rows = readFileSync(new URL(`${folder}data/example.jsonl`, import.meta.url), 'utf8')
  expect((await world.app.inject('/dataset.jsonl?format=nemo-gym&count=5&seed=1')).payload).toBe(rows)
})

it('the samples of all wires count in the groups of their run; a rollout that is sent again counts once', async () => {
  await world.call('PUT', '/runs/gathered', { group_size: 3 })
  const samples = [{ item_id: legs, completion: tagged('100'), rollout_id: 'r' }]
  await world.call('POST', '/openrlhf/gathered/get_reward', openrlhf.body(tagged('100'), legs))
  for (let k = 0; k < 3; k++) await world.call('POST', '/runs/gathered/samples', { samples })
  await world.call('POST', '/slime/gathered/rm', slime.body(tagged('1'), legs))
  const getProgress = async () => (await world.call('GET', '/runs/gathered')).body.progress
  const { groups, rollouts } = await until(getProgress, (progress) => progress.groups > 0)
  expect([groups, rollouts]).toEqual([1, 3])
})

it('feedback goes over the wires that carry text, as the run says or the call', async () => {
  await world.call('PUT', '/runs/told', { feedback: 'rule', tasks: ['gcd'], group_size: 2 })
  const { items } = (await world.call('POST', '/items', { task: 'gcd', seed: 7 })).body // of 841 and 549: 1
  const [{ id }] = items
  const ask = async (url: string, more = {}) =>
    (await world.call('POST', url, { samples: [{ item_id: id, answer: '29' }], ...more })).body.verdicts[0].feedback
  const broken = { kind: 'rule', text: '29 does not divide 549.' }
  expect(await ask('/runs/told/samples')).toEqual(broken)
  expect(await ask('/runs/told/samples', { feedback: 'none' })).toBeUndefined()
  expect(await ask('/samples')).toBeUndefined()
  expect(await ask('/samples', { feedback: 'format' })).toMatchObject({ kind: 'wrong' })
})

it('each text says how to set its trainer up, and every route that it names is there', () => {
  const known = new Set([...world.app.accessRules.keys()].map((route) => route.split(' ')[1]))
  for (const { name, heading, summary, unscored, snippets, paths } of ADAPTER_TEXTS) {
    expect([name, heading, summary, unscored, snippets.map(({ code }) => code).join('')]).not.toContain('')
    for (const path of paths.flatMap(expandPath)) expect([name, path, known.has(path)]).toEqual([name, path, true])
  }
})

/** Each route that a path of a text stands for, as Fastify writes it; none for other ports and for `…`. */
function expandPath(path: string): string[] {
  if (!path.startsWith('/') || path.includes('…')) return []
  const optional = /\[(.*?)\]/.exec(path)
  if (optional) return [path.replace(optional[0], ''), path.replace(optional[0], optional[1] ?? '')].flatMap(expandPath)
  const choice = /\{([^{}]*,[^{}]*)\}/.exec(path)
  if (choice) return (choice[1] ?? '').split(',').flatMap((one) => expandPath(path.replace(choice[0], one)))
  return [path.replaceAll(/\{(\w+)\}/g, ':$1')]
}
