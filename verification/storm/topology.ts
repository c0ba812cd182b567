/**
 * Servers of Redis that fail over or pass their slots on. In the cases without REDIS_REPLICAS, a master's writes are paused until
 * the replica has them all, since an asynchronous replication may lose the last ones. In the cases with it, masters are killed as
 * they are.
 */
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import * as cluster from '../support/cluster-nodes.ts'
import type { FleetRedis } from '../support/fleet.ts'
import { type LoopbackRedis, quiesceMaster } from '../support/loopback-redis.ts'
import { formCluster, startClusterNodes, waitUntilClusterReady } from '../support/redis-cluster.ts'
import { startSentinel } from '../support/redis-sentinel.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import { RANK_RUN } from './rank-load.ts'

/** The hash tags of the keys that training keeps busy: the run's and the job queues'. */
const HOT_TAGS = [`rgs:run:${RANK_RUN}`, 'rgs:jobs'] as const
const REPLICATED = { REDIS_REPLICAS: '1' }
const REPLICATED_MASTERS = 3
const RESHARDED_MASTERS = 4
/** Each so many changes, a master is removed and another added. */
const REMOVAL_INTERVAL = 5
/** A master without slots would make itself a replica when a slot that came to it goes on. */
const FIRST_SLOT_COUNT = 50

interface TopologyCase {
  redis: FleetRedis
  /** Makes one change under load, and tells what it was when it is over. */
  change: (done: number, random: SeededRandom) => Promise<string>
}

type StartCase = (binary?: string) => Promise<TopologyCase>

export const TOPOLOGY_CASES: Readonly<Record<string, StartCase>> = {
  async 'sentinel-failover'(binary) {
    const setup = await startSentinel(binary)
    return {
      redis: setup,
      async change(_done, random) {
        const how = random.pick(['failOver', 'hangMaster'] as const)
        await setup[how]()
        await setup.recover()
        return how === 'failOver' ? 'the master was killed' : 'the master hung'
      },
    }
  },
  async 'sentinel-crash'(binary) {
    const setup = await startSentinel(binary)
    return {
      redis: { ...setup, settings: REPLICATED },
      async change() {
        await setup.crashMaster()
        await setup.recover()
        return 'the master was killed under load'
      },
    }
  },
  'cluster-failover': (binary) =>
    startReplicatedCluster(binary, {}, async (master, replica, random) => {
      if (random.chance(0.5)) {
        await replica.client.cluster('FAILOVER')
        return `${replica.port} took over from ${master.port} as ordered`
      }
      await quiesceMaster(master, replica)
      await master.kill()
      return `master ${master.port} was killed`
    }),
  'cluster-crash': (binary) =>
    startReplicatedCluster(binary, REPLICATED, async (master) => {
      await master.kill()
      return `master ${master.port} was killed under load`
    }),
  async resharding(binary) {
    const { nodes, url, stop } = await startClusterNodes(RESHARDED_MASTERS, binary)
    await formCluster(nodes)
    return {
      redis: { url, stop },
      async change(done, random) {
        if ((done + 1) % REMOVAL_INTERVAL === 0) return replaceMaster(nodes, random)
        const moved: string[] = []
        for (const tag of HOT_TAGS) moved.push(await moveTag(nodes, tag, random))
        return moved.join('; ')
      },
    }
  },
}

/** Masters with a replica each. `fail` makes the replica take over, and says how. */
async function startReplicatedCluster(
  binary: string | undefined,
  settings: Record<string, string>,
  fail: (master: LoopbackRedis, replica: LoopbackRedis, random: SeededRandom) => Promise<string>,
): Promise<TopologyCase> {
  const { nodes, url, stop } = await startClusterNodes(2 * REPLICATED_MASTERS, binary)
  await formCluster(nodes, REPLICATED_MASTERS)
  const replicas = nodes.slice(REPLICATED_MASTERS)
  const pairs = replicas.map((replica, k) => [nodes[k] ?? replica, replica] as const)
  for (const [master, replica] of pairs) await replica.client.cluster('REPLICATE', await cluster.getNodeId(master))
  await cluster.waitFor(
    async () => (await Promise.all(replicas.map(cluster.isInSync))).every(Boolean),
    'replicas in sync',
  )
  return {
    redis: { url, settings, stop },
    async change(_done, random) {
      const tag = random.pick(HOT_TAGS)
      const master = await cluster.findOwner(nodes, tag)
      const replica = pairs.find((pair) => pair.includes(master))?.find((node) => node !== master)
      if (!replica) throw new Error(`${master.port} has no replica`)
      const how = await fail(master, replica, random)
      await cluster.waitFor(() => cluster.isMaster(replica), `${replica.port} as master`)
      if (!master.isUp) master.restart()
      await cluster.waitFor(() => cluster.isInSync(master), `${master.port} as replica`)
      await waitUntilClusterReady(nodes)
      return `${tag}: ${how}`
    },
  }
}

async function moveTag(nodes: LoopbackRedis[], tag: string, random: SeededRandom): Promise<string> {
  const source = await cluster.findOwner(nodes, tag)
  const slot = await cluster.getSlot(source, tag)
  const target = random.pick(nodes.filter((node) => node !== source))
  const keys = Number(await source.client.cluster('COUNTKEYSINSLOT', slot))
  await cluster.moveSlot(nodes, slot, source, target)
  return `${tag}: slot ${slot} with ${keys} keys from ${source.port} to ${target.port}`
}

/** The owner of the run's slot leaves the cluster, and comes back under a new identity. */
async function replaceMaster(nodes: LoopbackRedis[], random: SeededRandom): Promise<string> {
  const leaving = await cluster.findOwner(nodes, HOT_TAGS[0])
  const staying = nodes.filter((node) => node !== leaving)
  const slots = await cluster.listSlots(leaving)
  const withKeys = await cluster.evacuate(nodes, leaving, () => random.pick(staying))
  const id = await cluster.getNodeId(leaving)
  for (const { client } of staying) await client.cluster('FORGET', id)
  await leaving.kill()
  await sleep(random.between(0, 2000))
  rmSync(leaving.folder, { recursive: true, force: true })
  leaving.restart()
  await staying[0]?.client.cluster('MEET', '127.0.0.1', leaving.port)
  await waitUntilClusterReady(nodes)
  const giver = random.pick(staying)
  const given = (await cluster.listSlots(giver)).slice(0, FIRST_SLOT_COUNT)
  for (const slot of given) await cluster.moveSlot(nodes, slot, giver, leaving)
  return `master ${leaving.port} gave away ${slots.length} slots (${withKeys} with keys), left, and came back with ${given.length}`
}
