/** A cluster of four masters: the slots of the run and of the queue move between them, and a master is removed and added. */
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from '../chaos/seeded-random.ts'
import type { LoopbackRedis } from '../support/loopback-redis.ts'
import { formCluster, startClusterNodes, waitUntilClusterReady } from '../support/redis-cluster.ts'
import { evacuate, findOwner, getNodeId, getSlot, listSlots, moveSlot } from './cluster-nodes.ts'
import { HOT_TAGS, type TopologyCase } from './topology-case.ts'

const NODE_COUNT = 4
/** Each so many changes, a master is removed and another added. */
const REMOVAL_INTERVAL = 5
/** A master without slots would make itself a replica when a slot that came to it goes on. */
const FIRST_SLOT_COUNT = 50

export async function startResharding(binary?: string): Promise<TopologyCase> {
  const { nodes, url, stop } = await startClusterNodes(NODE_COUNT, binary)
  await formCluster(nodes)
  let changes = 0
  return {
    redis: { url, stop },
    change: async (random) => {
      changes++
      if (changes % REMOVAL_INTERVAL === 0) return replaceMaster(nodes, random)
      const moved: string[] = []
      for (const tag of HOT_TAGS) moved.push(await moveTag(nodes, tag, random))
      return moved.join('; ')
    },
  }
}

async function moveTag(nodes: LoopbackRedis[], tag: string, random: SeededRandom): Promise<string> {
  const source = await findOwner(nodes, tag)
  const slot = await getSlot(source, tag)
  const target = random.pick(nodes.filter((node) => node !== source))
  const keys = Number(await source.client.cluster('COUNTKEYSINSLOT', slot))
  await moveSlot(nodes, slot, source, target)
  return `${tag}: slot ${slot} with ${keys} keys from ${source.port} to ${target.port}`
}

/** The owner of the run's slot leaves the cluster, and comes back under a new identity. */
async function replaceMaster(nodes: LoopbackRedis[], random: SeededRandom): Promise<string> {
  const leaving = await findOwner(nodes, HOT_TAGS[0])
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
  const giver = random.pick(staying)
  const given = (await listSlots(giver)).slice(0, FIRST_SLOT_COUNT)
  for (const slot of given) await moveSlot(nodes, slot, giver, leaving)
  return `master ${leaving.port} gave away ${slots.length} slots (${withKeys} with keys), left, and came back with ${given.length}`
}
