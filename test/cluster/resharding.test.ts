/** Slots of a live run and of the queue move between masters. Run by `npm run test:cluster`. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { findOwner, getNodeId, getSlot, moveSlot } from '../../verification/support/cluster-nodes.ts'
import type { LoopbackRedis } from '../../verification/support/loopback-redis.ts'
import { formCluster, startClusterNodes } from '../../verification/support/redis-cluster.ts'
import { openWorld, until, type World } from '../world.ts'

type Cluster = Awaited<ReturnType<typeof startClusterNodes>>

let cluster: Cluster
let world: World
let itemId: string
beforeAll(async () => {
  cluster = await startClusterNodes(3, inject('redisBinary'))
  await formCluster(cluster.nodes)
  world = await openWorld({ worker: true, redisUrl: cluster.url })
  itemId = (await world.call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items[0].id
})
afterAll(async () => {
  await world.close()
  await cluster.stop()
})

function groupOf(run: string, id: string) {
  const rollouts = [{ completion: '<answer>100</answer>' }, { completion: 'x' }]
  return { run, item_id: itemId, group_id: id, rollouts }
}

it('keeps every group of a run whose slots move while scripts are flushed: a request meets 503 at worst', async () => {
  const { call } = world
  const unexpected: unknown[] = []
  const insist = (url: string, body: unknown) => {
    return until(
      () => call('POST', url, body, { prefer: 'wait=1' }),
      (answer) => {
        if (![200, 202, 204, 503].includes(answer.status)) unexpected.push(answer)
        return answer.status < 400
      },
      60_000,
    )
  }
  await call('PUT', '/runs/moving', { batch_size: 2, min_trained_tokens: 0 })
  const posted: string[] = []
  const delivered: string[] = []
  let isMoving = true
  let isPosting = true
  const posting = (async () => {
    while (isMoving) {
      const group = `g${posted.length}`
      await insist('/rollouts', groupOf('moving', group))
      posted.push(group)
    }
    isPosting = false
  })()
  await until(
    async () => posted.length,
    (count) => count > 5,
  )
  const training = (async () => {
    while (isPosting || delivered.length < posted.length) {
      const step = delivered.length
      const { status, body } = await insist('/runs/moving/batches', { step })
      if (status === 204) continue // none yet
      delivered.push(...body.groups.map(({ group_id }: { group_id: string }) => group_id))
      await insist(`/runs/moving/batches/${step}/ack`, {})
    }
  })()
  for (const tag of [`${world.prefix}:run:moving`, `${world.prefix}:jobs`]) {
    await moveAround(tag)
    for (const { client } of cluster.nodes) await client.script('FLUSH')
  }
  isMoving = false
  await Promise.all([posting, training])
  expect(unexpected).toEqual([])
  expect(delivered.toSorted()).toEqual(posted.toSorted())
  const run = await until(
    () => call('GET', '/runs/moving'),
    ({ status }) => status === 200,
  )
  const groups = posted.length
  expect(run.body.progress).toMatchObject({ groups, scored_groups: groups, queued_groups: 0, buffered_groups: 0 })
}, 120_000)

it('runs no script in a moving slot, even if all keys that it declares are there', async () => {
  const { call } = world
  await call('PUT', '/runs/halfway', { batch_size: 1, min_trained_tokens: 0 })
  const takeBatch = async (step: number) => {
    await call('POST', '/rollouts', groupOf('halfway', `s${step}`), { prefer: 'wait=10' })
    return call('POST', '/runs/halfway/batches', { step }, { prefer: 'wait=10' })
  }
  const acknowledge = (step: number) => call('POST', `/runs/halfway/batches/${step}/ack`, {})
  expect([(await takeBatch(0)).status, (await acknowledge(0)).status]).toEqual([200, 200]) // a new run lacks keys
  expect((await takeBatch(1)).status).toBe(200)

  const tag = `${world.prefix}:run:halfway`
  const source = await findOwner(cluster.nodes, tag)
  const slot = await getSlot(source, tag)
  const [target = source] = cluster.nodes.filter((node) => node !== source)
  const keys = (await source.client.cluster('GETKEYSINSLOT', slot, 1000)) as string[]
  const readBacklog = () => source.client.hgetall(keys.find((key) => key.endsWith(':backlog')) ?? '')
  const before = await readBacklog()
  // To the script, the group's arrays, which it does not declare, are on the other master.
  await source.client.cluster('SETSLOT', slot, 'MIGRATING', await getNodeId(target))
  const { status } = await acknowledge(1)
  const meanwhile = await readBacklog()
  await source.client.cluster('SETSLOT', slot, 'STABLE')
  expect(status).toBe(503)
  expect(before).toMatchObject({ open_batch_groups: '1' })
  expect(meanwhile).toEqual(before)
  expect((await acknowledge(1)).status).toBe(200)
})

/** Once around all masters. */
async function moveAround(tag: string): Promise<void> {
  for (const _ of cluster.nodes) {
    const source = await findOwner(cluster.nodes, tag)
    await moveOn(source, await getSlot(source, tag))
  }
}

async function moveOn(source: LoopbackRedis, slot: number): Promise<void> {
  const { nodes } = cluster
  const target = nodes[(nodes.indexOf(source) + 1) % nodes.length]
  if (target) await moveSlot(nodes, slot, source, target)
}
