import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Item } from '@reasoning-gym-server/contract/item'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Checkpoint } from '../../../../src/features/runs/checkpoint/document.ts'
import { type PrivateRedis, startPrivateRedis } from '../../../../src/main/bootstrap/redis/private-redis.ts'
import { openWorld, takeInOrder, until, type World } from '../../../world.ts'

/** Two servers that share nothing: each has a Redis of its own. */
const folders = ['a', 'b'].map((name) => mkdtempSync(join(tmpdir(), `rgs-restore-${name}-`)))
let stores: PrivateRedis[]
let [here, there]: World[] = []
beforeAll(async () => {
  stores = await Promise.all(folders.map((folder) => startPrivateRedis(folder, () => {})))
  ;[here, there] = await Promise.all(stores.map(({ url }) => openWorld({ worker: true, redisUrl: url })))
})
afterAll(async () => {
  for (const world of [here, there]) await world?.close()
  for (const store of stores) await store.stop()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const SETTINGS = {
  tasks: ['chain_sum', 'gcd'],
  complexity_mode: 'curriculum',
  seed: 5,
  batch_size: 4,
  group_size: 2,
  item_lease_s: 3600,
  drop_equal_scores: false,
  min_trained_tokens: 0,
}

async function take(world: World, run: string, count: number): Promise<Item[]> {
  const list: Item[] = []
  while (list.length < count)
    list.push(...((await world.call('POST', '/items', { run, count: count - list.length })).body.items ?? []))
  return list
}
const ids = (list: Item[]) => list.map(({ id }) => id)

async function answer(world: World, run: string, item: Item, share: number): Promise<void> {
  const { body } = await world.call('GET', `/items/${item.id}?reveal=true`)
  const rollouts = [0, 1].map((n) => ({
    completion: `<answer>${n < share ? body.answer : 'zzz'}</answer>`,
    tokens: [n],
  }))
  const posted = { run, item_id: item.id, group_id: `${item.recipe.seed}`, rollouts }
  expect((await world.call('POST', '/rollouts', posted, { prefer: 'wait=20' })).body.status).toBe('scored')
}
const step = (world: World, run: string, number: number) =>
  until(
    () => world.call('POST', '/items', { run, step: number, count: 4 }, { prefer: 'wait=20' }),
    ({ status }) => status === 200,
  )

it('a run that is restored on another server goes on as it would have gone on, under its name or another', async () => {
  if (!here || !there) throw new Error('both servers run')
  const [a, b] = [here, there]
  await a.call('PUT', '/runs/moves', SETTINGS)
  const [first, ...leased] = await take(a, 'moves', 6)
  for (const [k, item] of [first, ...leased.slice(0, 3)].entries()) if (item) await answer(a, 'moves', item, k % 3)
  expect((await a.call('POST', '/runs/moves/batches', { step: 0 })).status).toBe(200)
  const assigned = (await step(a, 'moves', 1)).body.items
  const checkpoint: Checkpoint = (await a.call('GET', '/runs/moves/checkpoint')).body
  expect(checkpoint.sequence.leases).toHaveLength(2)
  expect(checkpoint.sequence.steps).toHaveLength(1)

  for (const name of ['moves', 'moved']) {
    expect((await b.call('PUT', `/runs/${name}/checkpoint`, checkpoint)).status).toBe(200)
    const { run: _run, created_at: _at, sequence, ...same } = checkpoint
    const { position: _position, open: _open, ...held } = sequence // the workers open more meanwhile
    expect((await b.call('GET', `/runs/${name}/checkpoint`)).body).toMatchObject({ ...same, sequence: held })
    const history = async (world: World, run: string) => (await world.call('GET', `/runs/${run}/history`)).body.points
    expect(await history(b, name)).toEqual(await history(a, 'moves'))
    expect((await step(b, name, 1)).body.items).toEqual(assigned)
  }
  const [next, nextThere, nextMoved] = [
    await takeInOrder(a, 'moves', 40),
    await takeInOrder(b, 'moves', 40),
    await takeInOrder(b, 'moved', 40),
  ]
  expect(ids(nextThere)).toEqual(ids(next))
  expect(ids(nextMoved)).toEqual(ids(next))

  // Items that were handed out by the one server are answered at the other, and end their leases.
  for (const [k, item] of [...leased.slice(3), ...next.slice(0, 6)].entries()) {
    await answer(a, 'moves', item, k % 3)
    await answer(b, 'moved', item, k % 3)
  }
  const [goneOn, movedOn]: Checkpoint[] = await Promise.all([
    a.call('GET', '/runs/moves/checkpoint').then(({ body }) => body),
    b.call('GET', '/runs/moved/checkpoint').then(({ body }) => body),
  ])
  expect(movedOn?.curriculum).toEqual(goneOn?.curriculum)
  expect(movedOn?.counters.groups).toBe(goneOn?.counters.groups)
  const positions = (of: Checkpoint | undefined) => of?.sequence.leases.map(({ position }) => position).toSorted()
  expect(positions(movedOn)).toEqual(positions(goneOn))
})
