/** A cluster of four masters: the slots of the run and of the queue move between them, and a master is removed and added. */
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from '../chaos/seeded-random.ts'
import type { LoopbackRedis } from '../support/loopback-redis.ts'
import { formCluster, startClusterNodes, waitUntilClusterReady } from '../support/redis-cluster.ts'
import { evacuate, getNodeId, getSlot, listSlots, moveSlot } from './cluster-nodes.ts'
import { HOT_TAGS, type TopologyCase } from './topology-case.ts'

const NODE_COUNT = 4
/** Each so many changes, a master is removed and another added. */
const REMOVAL_INTERVAL = 5

export async function startResharding(binary?: string): Promise<TopologyCase> {
  const { nodes, url, stop } = await startClusterNodes(NODE_COUNT, binary)
  await formCluster(nodes, NODE_COUNT - 1)
  let changes = 0
  return {
    redis: { url, stop },
    async change(random) {
      changes++
      if (changes % REMOVAL_INTERVAL === 0) return replaceMaster(nodes, random)
      const moved: string[] = []
      for (const tag of HOT_TAGS) moved.push(await moveTag(nodes, tag, random))
      return moved.join('; ')
    },
  }
}

async function moveTag(nodes: LoopbackRedis[], tag: string, random: SeededRandom): Promise<string> {
  const [first] = nodes
  if (!first) throw new RangeError('no nodes')
  const slot = await getSlot(first, tag)
  const source = await findOwner(nodes, slot)
  const target = random.pick(nodes.filter((node) => node !== source))
  const keys = Number(await source.client.cluster('COUNTKEYSINSLOT', slot))
  await moveSlot(nodes, slot, source, target)
  return `${tag}: slot ${slot} with ${keys} keys from ${source.port} to ${target.port}`
}

/** The owner of the run's slot leaves the cluster, and comes back empty under a new identity. */
async function replaceMaster(nodes: LoopbackRedis[], random: SeededRandom): Promise<string> {
  const [first] = nodes
  if (!first) throw new RangeError('no nodes')
  const leaving = await findOwner(nodes, await getSlot(first, HOT_TAGS[0]))
  const staying = nodes.filter((node) => node !== leaving)
  const slots = await listSlots(leaving)
  const withKeys = await evacuate(nodes, leaving, () => random.pick(staying))
  const id = await getNodeId(leaving)
  for (const { client } of staying) await client.cluster('FORGET', id)
  await leaving.kill()
  await sleep(random.between(0, 2000))
  rmSync(leaving.folder, { recursive: true, force: true })
  leaving.restart()
  await staying[0]?.client.cluster('MEET', '127.0.0.1', leaving.port)
  await waitUntilClusterReady(nodes)
  return `master ${leaving.port} gave away ${slots.length} slots (${withKeys} with keys), left, and came back empty`
}

async function findOwner(nodes: LoopbackRedis[], slot: number): Promise<LoopbackRedis> {
  for (const node of nodes) if ((await listSlots(node)).includes(slot)) return node
  throw new Error(`nobody serves slot ${slot}`)
}
