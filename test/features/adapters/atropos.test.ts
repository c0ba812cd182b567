import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hear, openWorld, until, type World } from '../../world.ts'

let world: World

beforeAll(async () => {
  world = await openWorld({ worker: true })
  await world.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => world.close())

const TRAINER = {
  wandb_group: 'g',
  wandb_project: 'p',
  max_token_len: 512,
  checkpoint_dir: '/c',
  save_checkpoint_interval: 10,
  starting_step: 3,
  num_steps: 100,
}

/** Disconnects after the first bytes of a response. */
const breakOff = (path: string) =>
  new Promise<void>((resolve) => {
    const { port } = world.app.server.address() as AddressInfo
    const call = request({ port, path }).on('error', () => {})
    call.on('response', (response) => {
      response.once('data', () => {
        call.destroy()
        resolve()
      })
    })
    call.end()
  })

it('a registration ends with its run: the next run of the name begins at step 0', async () => {
  const path = '/atropos/again'
  await world.call('PUT', '/runs/again', { tasks: ['leg_counting'] })
  await world.call('POST', `${path}/register`, { ...TRAINER, starting_step: 500, batch_size: 4 })
  expect((await world.call('GET', `${path}/status`)).body.current_step).toBe(500)
  await world.call('DELETE', '/runs/again')
  await world.call('PUT', '/runs/again', { tasks: ['leg_counting'] })
  expect((await world.call('GET', `${path}/status`)).body.current_step).toBe(0)
  expect((await world.call('GET', `${path}/info`)).body).toEqual({ batch_size: -1, max_token_len: -1 })
})

it('a lease that is released goes to the call that waits for it', async () => {
  await world.call('PUT', '/runs/leased', { tasks: ['leg_counting'] })
  const { features, platform } = world
  const batches = features.adapters.createRunBatches(features.batches)
  const topic = `${platform.keys.slot('atropos-run:leased')}:lease`
  await hear(platform.keys, topic, () => batches.take('leased', performance.now())) // released: there is no batch
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
    const wait = { prefer: 'wait=30' } // the engine may still be starting
    const { body } = await world.call('POST', '/items', { run: 'steps', position: 0, count: 3 }, wait)
    const { items } = body
    for (const [k, { id }] of items.entries()) {
      const { answer } = (await world.call('GET', `/items/${id}?reveal=true`)).body
      const rollouts = [answer, 'no', answer].map((text, r) => ({
        completion: `<answer>${text}</answer>`,
        tokens: [1, 2, k, r],
        masks: [-100, -100, k, r],
        logprobs: [null, null, -0.5, -1 - r],
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
