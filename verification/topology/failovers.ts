/**
 * Masters that die or hang and replicas that take over. In the cases without REDIS_REPLICAS, a master's writes are paused
 * until the replica has them all, since an asynchronous replication may lose the last ones. In the cases with it, masters are
 * killed as they are.
 */
import type { SeededRandom } from '../chaos/seeded-random.ts'
import { type LoopbackRedis, quiesceMaster } from '../support/loopback-redis.ts'
import { formCluster, startClusterNodes, waitUntilClusterReady } from '../support/redis-cluster.ts'
import { startSentinel } from '../support/redis-sentinel.ts'
import { findOwner, getNodeId, isMaster, waitFor } from './cluster-nodes.ts'
import { HOT_TAGS, type TopologyCase } from './topology-case.ts'

const MASTER_COUNT = 3
const REPLICATED = { REDIS_REPLICAS: '1' }

export async function startSentinelFailover(binary?: string): Promise<TopologyCase> {
  const setup = await startSentinel(binary)
  return {
    redis: setup,
    change: async (random) => {
      const how = random.pick(['failOver', 'hangMaster'] as const)
      await setup[how]()
      await setup.recover()
      return how === 'failOver' ? 'the master was killed' : 'the master hung'
    },
  }
}

export async function startSentinelCrash(binary?: string): Promise<TopologyCase> {
  const setup = await startSentinel(binary)
  return {
    redis: { ...setup, settings: REPLICATED },
    change: async () => {
      await setup.crashMaster()
      await setup.recover()
      return 'the master was killed under load'
    },
  }
}

export const startClusterFailover = (binary?: string) => startReplicatedCluster(binary, takeOver, {})

/** Masters are killed whatever their replicas lack. */
export const startClusterCrash = (binary?: string) => startReplicatedCluster(binary, crash, REPLICATED)

type Failover = (
  nodes: LoopbackRedis[],
  master: LoopbackRedis,
  replica: LoopbackRedis,
  random: SeededRandom,
) => Promise<string>

/** Three masters, each with a replica. */
async function startReplicatedCluster(
  binary: string | undefined,
  failOver: Failover,
  settings: Record<string, string>,
): Promise<TopologyCase> {
  const { nodes, url, stop } = await startClusterNodes(2 * MASTER_COUNT, binary)
  await formCluster(nodes, MASTER_COUNT)
  for (const [k, replica] of nodes.slice(MASTER_COUNT).entries()) {
    const master = nodes[k]
    if (master) await replica.client.cluster('REPLICATE', await getNodeId(master))
  }
  const pairs = Array.from({ length: MASTER_COUNT }, (_, k) => [nodes[k], nodes[k + MASTER_COUNT]])
  const replicates = async () => (await Promise.all(nodes.slice(MASTER_COUNT).map(isInSync))).every(Boolean)
  await waitFor(replicates, 'replicas in sync')
  return {
    redis: { url, settings, stop },
    change: async (random) => {
      const tag = random.pick(HOT_TAGS)
      const master = await findOwner(nodes, tag)
      const replica = pairs.find((pair) => pair.includes(master))?.find((node) => node !== master)
      if (!replica) throw new Error(`${master.port} has no replica`)
      return `${tag}: ${await failOver(nodes, master, replica, random)}`
    },
  }
}

async function takeOver(
  nodes: LoopbackRedis[],
  master: LoopbackRedis,
  replica: LoopbackRedis,
  random: SeededRandom,
): Promise<string> {
  const isCrash = random.chance(0.5)
  if (isCrash) {
    await quiesceMaster(master, replica)
    await master.kill()
  } else await replica.client.cluster('FAILOVER')
  await waitFor(() => isMaster(replica), `${replica.port} as master`)
  if (isCrash) master.restart()
  await waitFor(() => isInSync(master), `${master.port} as replica`)
  await waitUntilClusterReady(nodes)
  return isCrash ? `master ${master.port} was killed` : `${replica.port} took over from ${master.port} as ordered`
}

async function crash(nodes: LoopbackRedis[], master: LoopbackRedis, replica: LoopbackRedis): Promise<string> {
  await master.kill()
  await waitFor(() => isMaster(replica), `${replica.port} as master`)
  master.restart()
  await waitFor(() => isInSync(master), `${master.port} as replica`)
  await waitUntilClusterReady(nodes)
  return `master ${master.port} was killed under load`
}

async function isInSync(node: LoopbackRedis): Promise<boolean> {
  return /master_link_status:up/.test(await node.client.info('replication'))
}
