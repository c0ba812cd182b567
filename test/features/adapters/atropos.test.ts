import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chooseBatch, findExactSum, type QueuedGroup } from '../../../src/features/adapters/atropos/compose.ts'
import { ScoredGroup } from '../../../src/features/adapters/atropos/wire.ts'
import { keysOf, openWorld, until, type World } from '../../world.ts'

let world: World
let stores = 0

beforeAll(async () => {
  world = await openWorld({ worker: true })
  await world.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => world.close())

const TRAINER = {
  ...{ wandb_group: 'g', wandb_project: 'p', max_token_len: 512, checkpoint_dir: '/c', save_checkpoint_interval: 10 },
  ...{ starting_step: 3, num_steps: 100 },
}
const makeGroup = (sequences: number, score = 1, more: object = {}) => ({
  tokens: Array.from({ length: sequences }, (_, k) => [1, 2, k]),
  masks: Array.from({ length: sequences }, (_, k) => [-100, 2, k]),
  scores: Array<number>(sequences).fill(score),
  ...more,
})

/** A store of its own. */
function openStore() {
  const name = `s${stores++}`
  const path = `/atropos/stores/${name}`
  const post = async (name: string, body: unknown) => (await world.call('POST', `${path}/${name}`, body)).body
  const get = async (name: string) => (await world.call('GET', `${path}/${name}`)).body
  return {
    name,
    path,
    get,
    post,
    async begin(batch_size: number, more: object = {}) {
      await post('register', { ...TRAINER, batch_size, ...more })
      expect(await get('batch')).toEqual({ batch: null })
    },
    join: (more: object) =>
      post('register-env', { max_token_length: 100, desired_name: 'env', weight: 1, group_size: 4, ...more }),
    send: (sequences: number, score = 1, more: object = {}) => post('scored_data', makeGroup(sequences, score, more)),
    /** The scores of the groups of the next batch. */
    take: async () => ((await get('batch')).batch as { scores: number[] }[] | null)?.map(({ scores }) => scores[0]),
  }
}

describe('a trainer and its environments', () => {
  it('meet in the order of the original', async () => {
    const store = openStore()
    expect(await store.get('')).toEqual({ message: 'AtroposLib API' })
    expect(await store.get('info')).toEqual({ batch_size: -1, max_token_len: -1 })
    expect(await store.get('wandb_info')).toEqual({ group: null, project: null })
    expect(await store.get('batch')).toMatchObject({ status: 'error', batch: [] })
    expect(await store.join({})).toEqual({ status: 'wait for trainer to start' })
    expect((await store.post('register', { ...TRAINER, batch_size: 4 })).uuid).toBeTypeOf('number')
    expect(await store.join({})).toEqual({ status: 'wait for trainer to start' })
    expect(await store.get('batch')).toEqual({ batch: null })
    expect(await store.join({})).toEqual({
      ...{ status: 'success', env_id: 0, wandb_name: 'env_0', checkpoint_dir: '/c', starting_step: 3 },
      ...{ checkpoint_interval: 10, num_steps: 100 },
    })
    expect(await store.join({ desired_name: null })).toMatchObject({ env_id: 1, wandb_name: 'environment_0' })
    expect(await store.join({})).toMatchObject({ env_id: 2, wandb_name: 'env_1' })
    expect(await store.get('info')).toEqual({ batch_size: 4, max_token_len: 512 })
    expect(await store.get('wandb_info')).toEqual({ group: 'g', project: 'p' })
  })

  it('exchange groups: all keys are there but a null of inference_logprobs', async () => {
    const store = openStore()
    await store.begin(4)
    const rich = makeGroup(2, 0.5, {
      ...{
        env_id: 7,
        inference_logprobs: [
          [1, -0.25, -1e-7],
          [1, -2, -3],
        ],
        overrides: [{}, { temperature: 0.5 }],
      },
      ...{ messages: [[{ role: 'user', content: 'é' }], [{ role: 'cat', content: null, reward: 1 }]], unknown: 1 },
      ...{ generation_params: { temperature: 0.7 }, group_overrides: { sft: true }, images: 'x' },
    })
    const plain = makeGroup(2, 1, { inference_logprobs: null })
    await store.post('scored_data_list', [rich, plain])
    const absent = { advantages: null, ref_logprobs: null, distill_token_ids: null, distill_logprobs: null }
    const none = { messages: null, generation_params: null, overrides: null, group_overrides: null, images: null }
    const { unknown: _, ...known } = rich as Record<string, unknown>
    const { inference_logprobs: __, ...bare } = plain as Record<string, unknown>
    const expected = [
      { ...known, ...absent },
      { ...bare, ...absent, ...none, env_id: null },
    ]
    expect(await store.get('latest_example')).toEqual(expected[1])
    expect((await store.get('batch')).batch).toEqual(expected)
    expect(await store.get('batch')).toEqual({ batch: null })
    expect(await store.get('latest_example')).toEqual(expected[1])
    expect(await store.get('status')).toEqual({ current_step: 4, queue_size: 0 })
  })

  it('compressed bodies, and what would end a trainer is refused', async () => {
    const store = openStore()
    const payload = gzipSync(JSON.stringify(makeGroup(2)))
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const sent = await world.app.inject({ method: 'POST', url: `${store.path}/scored_data`, headers, payload })
    expect(sent.json()).toEqual({ status: 'received' })
    for (const [broken, path] of [
      [{ ...makeGroup(2), scores: [1] }, 'scores'],
      [{ ...makeGroup(2), masks: [[1, 2, 3], [1]] }, 'masks.1'],
      [{ ...makeGroup(1), tokens: [], masks: [], scores: [] }, 'tokens'],
      [{ ...makeGroup(1), tokens: [['a']] }, 'tokens.0.0'],
      [makeGroup(1, 1, { messages: [[{ content: 'x' }]] }), 'messages.0.0.role'],
    ] as const) {
      const { status, body } = await world.call('POST', `${store.path}/scored_data`, broken)
      expect([status, body.errors[0].path]).toEqual([400, path])
    }
    expect((await store.get('status')).queue_size).toBe(1)
  })

  it('a reset empties a store, and environments that do not know go on', async () => {
    const store = openStore()
    await store.begin(4)
    await store.join({})
    await store.send(4)
    await store.send(2)
    const { body } = await world.call('GET', `${store.path}/status-env?env_id=0`)
    expect(body).toMatchObject({ current_step: 3, self_queue_size: 0 })
    const reset = await world.app.inject({ url: `${store.path}/reset_data` })
    expect([reset.statusCode, reset.body]).toEqual([200, 'Reset successful'])
    expect(await store.get('info')).toEqual({ batch_size: -1, max_token_len: -1 })
    expect(await store.get('status')).toEqual({ current_step: 0, queue_size: 0 })
    expect(await store.get('wandb_info')).toEqual({ group: null, project: null })
    expect(await store.get('latest_example')).toMatchObject({ tokens: [] })
    expect(await store.get('status-env?env_id=0')).toMatchObject({ queue_size: 0, env_weight: 1, max_group_size: 1 })
    await store.begin(4, { starting_step: 0 })
    await store.send(4, 0.5)
    expect(await store.take()).toEqual([0.5])
    expect(
      await keysOf(world.platform.redis, `{${world.prefix}:${store.path.slice(1).replace('/stores/', ':')}}:group:*`),
    ).toHaveLength(1)
  })
})

describe('the queue', () => {
  it('oldest first, exactly batch_size sequences, of whatever sizes', async () => {
    const store = openStore()
    await store.begin(8)
    for (const [k, size] of [3, 4, 2, 8, 2, 1].entries()) await store.send(size, k)
    expect(await store.take()).toEqual([0, 1, 5])
    expect(await store.take()).toEqual([3])
    expect(await store.take()).toBeUndefined()
    await store.send(4, 6)
    expect(await store.take()).toEqual([2, 4, 6])
    expect((await store.get('status')).current_step).toBe(6)
  })

  it('an environment gets the share that it reserved while it is there', async () => {
    const store = openStore()
    await store.begin(8)
    const [slow, fast] = [await store.join({ min_batch_allocation: 0.5 }), await store.join({ weight: 3 })]
    for (let k = 0; k < 4; k++) await store.send(4, k, { env_id: fast.env_id })
    expect(await store.take()).toBeUndefined()
    expect(await store.get(`status-env?env_id=${fast.env_id}`)).toEqual({
      ...{ current_step: 3, queue_size: 4, self_queue_size: 4, max_group_size: 4 },
      ...{ unallocated_fraction: 0.5, env_weight: 0.75 },
    })
    await store.send(4, 9, { env_id: slow.env_id })
    expect(await store.get(`status-env?env_id=${fast.env_id}`)).toMatchObject({ queue_size: 4 })
    expect(await store.get(`status-env?env_id=${slow.env_id}`)).toMatchObject({ queue_size: 5, self_queue_size: 1 })
    expect(await store.take()).toEqual([0, 9])
    expect(await store.take()).toBeUndefined()
    expect(await store.post('disconnect-env', { env_id: slow.env_id })).toEqual({ status: 'success' })
    expect(await store.post('disconnect-env', { env_id: 99 })).toMatchObject({ status: 'failure' })
    expect(await store.take()).toEqual([1, 2])
  })

  it('many callers get different batches, and every group once', async () => {
    const store = openStore()
    await store.begin(4)
    const scores = Array.from({ length: 40 }, (_, k) => k)
    await Promise.all(scores.map((score) => store.send(2, score)))
    const batches = await Promise.all(scores.slice(0, 30).map(() => store.take()))
    expect(batches.flatMap((batch) => batch ?? []).toSorted((a, b) => (a ?? 0) - (b ?? 0))).toEqual(scores)
    expect((await store.get('status')).current_step).toBe(23)
  })

  it('stores do not mix, and that of all is one more', async () => {
    const [one, other] = [openStore(), openStore()]
    await one.begin(2)
    await other.begin(2)
    await one.send(2, 0.25)
    await world.call('POST', '/atropos/scored_data', makeGroup(2, 0.75))
    expect(await other.take()).toBeUndefined()
    expect(await one.take()).toEqual([0.25])
    expect((await world.call('GET', '/atropos/latest_example')).body.scores).toEqual([0.75, 0.75])
    expect((await world.call('GET', '/atropos/status')).body).toEqual({ current_step: 0, queue_size: 1 })
  })
})

const open = (method: string, path: string, body?: string) => {
  const { port } = world.app.server.address() as AddressInfo
  const headers =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const call = request({ port, path, method, headers }).on('error', () => {})
  call.end(body)
  return call
}

/** Leaves after the first bytes of an answer. */
const breakOff = (path: string) =>
  new Promise<void>((resolve) => {
    const call = open('GET', path)
    call.on('response', (response) => {
      response.once('data', () => {
        call.destroy()
        resolve()
      })
    })
  })

describe('a connection that breaks', () => {
  it('before a batch has left: the next caller gets it', async () => {
    const store = openStore()
    await store.begin(2)
    const long = Array.from({ length: 400_000 }, (_, k) => k)
    const group = { tokens: [long, long], masks: [long, long], scores: [1, 0] }
    await world.call('POST', `${store.path}/scored_data`, group)
    await breakOff(`${store.path}/batch`)
    expect((await store.get('status')).queue_size).toBe(0)
    const batch = await until(
      async () => (await store.get('batch')).batch as { scores: number[] }[] | null,
      (answer) => answer !== null,
    )
    expect(batch?.[0]?.scores).toEqual([1, 0])
    expect((await store.get('status')).current_step).toBe(4)
    expect(await store.get('batch')).toEqual({ batch: null })
  })

  it('before the answer to a group has left: its retry counts once, and what is answered counts again', async () => {
    const store = openStore()
    await store.begin(100)
    const groups = [ScoredGroup.parse(makeGroup(2))]
    const deadline = performance.now() + 10_000
    const leaving = Promise.withResolvers<boolean>()
    await world.features.adapters.atropos.get(store.name).accept(groups, { deadline, delivery: leaving.promise })
    leaving.resolve(false)
    expect(await store.send(2)).toEqual({ status: 'received' })
    expect((await store.get('status')).queue_size).toBe(1)
    expect(await store.send(2)).toEqual({ status: 'received' })
    expect((await store.get('status')).queue_size).toBe(2)
  })

  it('an environment says who it is in the body of a GET', async () => {
    const store = openStore()
    await store.begin(4)
    await store.join({})
    const answer = await new Promise((resolve) => {
      open('GET', `${store.path}/status-env`, '{"env_id": 0}').on('response', (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString()
        })
        response.on('end', () => resolve(JSON.parse(text)))
      })
    })
    expect(answer).toMatchObject({ current_step: 3, env_weight: 1, queue_size: 0 })
    expect((await world.call('GET', `${store.path}/status-env`)).status).toBe(400)
  })
})

describe('the batches of a run', () => {
  it('in the form of Atropos, step by step, each until its answer has left', async () => {
    const path = '/atropos/steps'
    const get = async (name: string) => (await world.call('GET', `${path}/${name}`)).body
    expect(await get('info')).toEqual({ batch_size: -1, max_token_len: -1 })
    expect(await get('batch')).toMatchObject({ status: 'error', batch: [] })
    await world.call('PUT', '/runs/steps', { preset: 'clean', tasks: ['leg_counting'], unscored_rollouts: 'mask' })
    await world.call('POST', `${path}/register`, { ...TRAINER, batch_size: 4 })
    expect((await world.call('GET', '/runs/steps')).body.settings.batch_size).toBe(4)
    expect(await get('batch')).toEqual({ batch: null })
    const items = (await world.call('POST', '/items', { run: 'steps', position: 0, count: 3 })).body.items
    for (const [k, { id }] of items.entries()) {
      const { answer } = (await world.call('GET', `/items/${id}?reveal=true`)).body
      const rollouts = [answer, 'no', answer].map((text, r) => ({
        completion: `<answer>${text}</answer>`,
        ...{ tokens: [1, 2, k, r], masks: [-100, -100, k, r], logprobs: [null, null, -0.5, -1 - r] },
        finish_reason: r === 2 ? 'abort' : 'stop',
      }))
      await world.call('POST', '/rollouts', { run: 'steps', item_id: id, rollouts }, { prefer: 'wait=20' })
    }
    expect(await get('status')).toEqual({ current_step: 3, queue_size: 3 })
    const { batch } = await get('batch')
    expect(batch).toHaveLength(2)
    const trained = { overrides: [{}, {}, { set_advantage_to_zero: true }], scores: [1, 0, 0.5] }
    for (const [k, group] of batch.entries()) {
      expect(group).toMatchObject({ ...trained, masks: [0, 1, 2].map((r) => [-100, -100, k, r]) })
      expect(group.inference_logprobs).toEqual([0, 1, 2].map((r) => [1, 1, -0.5, -1 - r]))
      expect(group.messages).toBeNull()
    }
    await until(
      () => get('status'),
      ({ current_step, queue_size }) => current_step === 4 && queue_size === 1,
    )
    expect(await get('batch')).toEqual({ batch: null })
    expect((await world.call('GET', '/runs/steps/batches/3')).status).toBe(404) // acknowledged
  })

  it('a batch whose connection broke comes again; groups without tokens are told', { timeout: 90_000 }, async () => {
    const path = '/atropos/lost'
    await world.call('PUT', '/runs/lost', { preset: 'clean', tasks: ['leg_counting'] })
    await world.call('POST', `${path}/register`, { ...TRAINER, starting_step: 0, batch_size: 2 })
    const post = async (position: number, ...arrays: object[]) => {
      const [{ id }] = (await world.call('POST', '/items', { run: 'lost', position })).body.items
      const { answer } = (await world.call('GET', `/items/${id}?reveal=true`)).body
      const rollouts = [answer, 'no'].map((text, k) => ({ completion: `<answer>${text}</answer>`, ...arrays[k] }))
      return world.call('POST', '/rollouts', { run: 'lost', item_id: id, rollouts }, { prefer: 'wait=20' })
    }
    const long = Array.from({ length: 400_000 }, (_, k) => k)
    await post(0, { tokens: long, masks: long }, { tokens: [1], masks: [1] })
    await breakOff(`${path}/batch`)
    const { batch } = await until(
      async () => (await world.call('GET', `${path}/batch`)).body,
      (body) => body.batch !== null,
    )
    expect(batch[0].tokens[0]).toHaveLength(400_000)
    await post(1)
    const { body } = await until(
      () => world.call('GET', `${path}/batch`),
      (answer) => answer.body.batch !== null,
    )
    expect(body).toMatchObject({ status: 'error', batch: [], message: expect.stringContaining('tokens') })
  })
})

describe('the choice of groups', () => {
  const queue = (sizes: number[], age = 0): QueuedGroup[] =>
    sizes.map((sequences, k) => ({ id: String(k), sequences, environment: k % 2, acceptedAt: -age }))
  const choose = (sizes: number[], batchSize: number, age = 0) =>
    chooseBatch(queue(sizes, age), { batchSize, minimums: new Map<number, number>(), now: 0 })?.map(({ id }) =>
      Number(id),
    )

  it('finds every sum that there is, among the oldest', () => {
    expect(findExactSum(queue([5, 4, 3, 3]), 6)?.map(({ id }) => id)).toEqual(['2', '3'])
    expect(findExactSum(queue([5, 4, 4]), 6)).toBeUndefined()
    expect(choose([4, 4, 4, 4], 8)).toEqual([0, 1])
    expect(choose([8, 2, 4, 2, 8], 8)).toEqual([0])
    expect(choose([6, 4, 4], 8)).toEqual([1, 2])
    expect(choose([4], 8)).toBeUndefined()
  })

  it('waits for an exact sum, but not for ever', () => {
    expect(choose([3, 3, 3, 3], 8)).toBeUndefined()
    expect(choose([3, 3, 3, 3], 8, 31_000)).toEqual([0, 1, 2])
    expect(choose([3, 4, 4, 5], 8, 31_000)).toEqual([0, 3])
    expect(choose([3, 4, 4], 8, 31_000)).toEqual([0, 1, 2])
    expect(choose([16], 8, 31_000)).toEqual([0])
  })

  it('gives an environment no less than its share', () => {
    const minimums = new Map([[1, 4]])
    const rules = { batchSize: 8, minimums, now: 0 }
    expect(chooseBatch(queue([4, 4, 4, 4]), rules)?.map(({ id }) => id)).toEqual(['0', '1'])
    expect(chooseBatch(queue([4, 2, 4, 2, 2]), rules)?.map(({ id }) => id)).toEqual(['0', '1', '3'])
    expect(chooseBatch(queue([4, 2, 4]), rules)).toBeUndefined()
    const all = new Map([
      [0, 8],
      [1, 8],
    ])
    expect(chooseBatch(queue([4, 4, 4]), { batchSize: 8, minimums: all, now: 0 })?.map(({ id }) => id)).toEqual([
      '0',
      '1',
    ])
  })
})
