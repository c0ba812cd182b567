/** Slots of a live run and of the queue move between masters. Run by `npm run test:cluster`. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { findOwner, getSlot, moveSlot } from '../../verification/support/cluster-nodes.ts'
import { formCluster, startClusterNodes } from '../../verification/support/redis-cluster.ts'
import { openWorld, until, type World } from '../world.ts'

type Cluster = Awaited<ReturnType<typeof startClusterNodes>>

let cluster: Cluster
let world: World
beforeAll(async () => {
  cluster = await startClusterNodes(3, inject('redisBinary'))
  await formCluster(cluster.nodes)
  world = await openWorld({ worker: true, redisUrl: cluster.url })
}, 90_000)
afterAll(async () => {
  await world.close()
  await cluster.stop()
})

it('keeps every group of a run whose slot moves: a request meets 503 at worst', async () => {
  const { body } = await world.call('POST', '/items', { task: 'gcd', seed: 1 })
  const seen = new Set<number>()
  const post = (group: string) =>
    until(
      async () => {
        const rollouts = [{ completion: 'x' }, { completion: '<answer>1</answer>' }]
        const given = { run: 'moving', item_id: body.items[0].id, group_id: group, rollouts }
        const { status } = await world.call('POST', '/rollouts', given, { prefer: 'wait=1' })
        seen.add(status)
        return status
      },
      (status) => status < 400,
    )
  await post('first')
  let moving = true
  let posted = 1
  const posting = (async () => {
    while (moving) await post(`g${posted++}`)
  })()
  for (const tag of [`${world.prefix}:run:moving`, `${world.prefix}:jobs`]) await moveAround(tag)
  moving = false
  await posting
  expect([...seen].filter((status) => ![200, 202, 503].includes(status))).toEqual([])
  const run = await until(
    () => world.call('GET', '/runs/moving'),
    (answer) => answer.body.progress?.scored_groups === posted,
    60_000,
  )
  expect(run.body.progress).toMatchObject({ groups: posted, scored_groups: posted, queued_groups: 0 })
}, 120_000)

/** Once around all masters. */
async function moveAround(tag: string): Promise<void> {
  const { nodes } = cluster
  for (const _ of nodes) {
    const source = await findOwner(nodes, tag)
    const target = nodes[(nodes.indexOf(source) + 1) % nodes.length]
    if (target) await moveSlot(nodes, await getSlot(source, tag), source, target)
  }
}
