/**
 * Masters that die or hang and replicas that take over. Before a master fails, its writes are paused until the replica has
 * them all, so that nothing may be lost: what an asynchronous replication loses besides is said in docs/operations/redis.md.
 */
import type { SeededRandom } from '../chaos/seeded-random.ts'
import { type LoopbackRedis, quiesceMaster } from '../support/loopback-redis.ts'
import { formCluster, startClusterNodes, waitUntilClusterReady } from '../support/redis-cluster.ts'
import { startSentinel } from '../support/redis-sentinel.ts'
import { findOwner, getNodeId, isMaster, waitFor } from './cluster-nodes.ts'
import { HOT_TAGS, type TopologyCase } from './topology-case.ts'

const MASTER_COUNT = 3

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

/** Three masters, each with a replica. */
export async function startClusterFailover(binary?: string): Promise<TopologyCase> {
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
    redis: { url, stop },
    change: async (random) => {
      const tag = random.pick(HOT_TAGS)
      const master = await findOwner(nodes, tag)
      const replica = pairs.find((pair) => pair.includes(master))?.find((node) => node !== master)
      if (!replica) throw new Error(`${master.port} has no replica`)
      return `${tag}: ${await takeOver(nodes, master, replica, random)}`
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

async function isInSync(node: LoopbackRedis): Promise<boolean> {
  return /master_link_status:up/.test(await node.client.info('replication'))
}
