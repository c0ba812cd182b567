/** Slots of a live run and of the queue move between masters. Run by `npm run test:cluster`. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { findOwner, getSlot, moveSlot } from '../../verification/support/cluster-nodes.ts'
import type { LoopbackRedis } from '../../verification/support/loopback-redis.ts'
import { formCluster, startClusterNodes } from '../../verification/support/redis-cluster.ts'
import { openWorld, until, type World } from '../world.ts'

type Cluster = Awaited<ReturnType<typeof startClusterNodes>>

let cluster: Cluster
let world: World
beforeAll(async () => {
  cluster = await startClusterNodes(3, inject('redisBinary'))
  await formCluster(cluster.nodes)
  world = await openWorld({ worker: true, redisUrl: cluster.url })
})
afterAll(async () => {
  await world.close()
  await cluster.stop()
})

it('keeps every group of a run whose slots move while scripts are flushed: a request meets 503 at worst', async () => {
  const { call } = world
  const itemId = (await call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items[0].id
  const seen = new Set<number>()
  const insist = async (url: string, body: unknown) => {
    const answer = await until(
      () => call('POST', url, body, { prefer: 'wait=1' }),
      ({ status }) => {
        seen.add(status)
        return status < 400
      },
      60_000,
    )
    return answer
  }
  const post = (group: string) => {
    const rollouts = [{ completion: '<answer>100</answer>' }, { completion: 'x' }]
    return insist('/rollouts', { run: 'moving', item_id: itemId, group_id: group, rollouts })
  }
  await call('PUT', '/runs/moving', { batch_size: 2, min_trained_tokens: 0 })
  const posted: string[] = []
  const delivered: string[] = []
  let isMoving = true
  const posting = (async () => {
    while (isMoving) {
      const group = `g${posted.length}`
      await post(group)
      posted.push(group)
    }
  })()
  await until(
    async () => posted.length,
    (count) => count > 5,
  )
  const training = (async () => {
    while (isMoving || delivered.length < posted.length) {
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
  expect([...seen].filter((status) => ![200, 202, 204, 503].includes(status))).toEqual([])
  expect(delivered.toSorted()).toEqual(posted.toSorted())
  const run = await until(
    () => call('GET', '/runs/moving'),
    ({ status }) => status === 200,
  )
  const groups = posted.length
  expect(run.body.progress).toMatchObject({ groups, scored_groups: groups, queued_groups: 0, buffered_groups: 0 })
}, 120_000)

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
