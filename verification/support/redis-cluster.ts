/** A Redis Cluster on loopback, for tests: real servers with append-only files, gone with their folder. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveRedisBinary } from '../../src/main/bootstrap/redis/redis-process.ts'
import { buildTlsSettings, type TestCertificates } from './certificates.ts'
import { findFreePortPairs, LoopbackRedis } from './loopback-redis.ts'
import { waitUntil } from './wait.ts'

const MASTER_COUNT = 3
const SLOT_COUNT = 16_384
const START_TIMEOUT_MS = 120_000
const CLUSTER_SETTINGS = {
  'cluster-enabled': 'yes',
  'cluster-config-file': 'nodes.conf',
  'cluster-node-timeout': '2000',
}

export interface RedisCluster {
  /** What REDIS_URL is set to. */
  url: string
  /** Kills one master with -9 and starts it again on its files. */
  crashMaster(master: number): Promise<void>
  stop: () => Promise<void>
}

export async function startRedisCluster(serverBinary?: string, certificates?: TestCertificates): Promise<RedisCluster> {
  const { nodes, url, stop } = await startClusterNodes(MASTER_COUNT, serverBinary, certificates)
  try {
    await formCluster(nodes)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url,
    async crashMaster(master) {
      const node = nodes[master]
      if (!node) throw new RangeError(`there is no master ${master}`)
      await node.kill()
      node.restart()
      await waitUntilClusterReady(nodes)
    },
    stop,
  }
}

interface ClusterNodes {
  nodes: LoopbackRedis[]
  /** Names all nodes. */
  url: string
  stop: () => Promise<void>
}

/** Servers that do not know each other yet. */
export async function startClusterNodes(
  count: number,
  serverBinary?: string,
  certificates?: TestCertificates,
): Promise<ClusterNodes> {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-cluster-'))
  const binary = serverBinary ?? (await resolveRedisBinary(console.log))
  const ports = await findFreePortPairs(certificates ? 2 * count : count)
  const nodes = ports.slice(0, count).map((port, k) => {
    const tlsPort = ports[count + k]
    const tls = certificates && tlsPort && { ...buildTlsSettings(certificates, tlsPort), 'tls-cluster': 'yes' }
    return new LoopbackRedis(binary, folder, port, { ...CLUSTER_SETTINGS, ...tls })
  })
  const hosts = nodes.map((node) => `127.0.0.1:${node.publicPort}`)
  return {
    nodes,
    url: `${certificates ? 'rediss' : 'redis'}+cluster://${hosts.join(',')}`,
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Deals out the slots to the first nodes, makes all nodes known to each other, and waits until all agree. */
export async function formCluster(nodes: LoopbackRedis[], masterCount = nodes.length): Promise<void> {
  const share = Math.ceil(SLOT_COUNT / masterCount)
  for (const [k, { client }] of nodes.entries()) {
    const count = Math.max(0, Math.min(share, SLOT_COUNT - k * share))
    const slots = Array.from({ length: count }, (_, n) => k * share + n)
    if (count > 0) await client.cluster('ADDSLOTS', slots)
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', k + 1)
  }
  for (const { publicPort } of nodes.slice(1)) await nodes[0]?.client.cluster('MEET', '127.0.0.1', publicPort)
  await waitUntilClusterReady(nodes)
}

/** Resolves when every node sees all others, and a master of every slot. */
export function waitUntilClusterReady(nodes: LoopbackRedis[]): Promise<void> {
  const isWhole = (info: string) =>
    info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}\r`)
  const ask = async ({ client }: LoopbackRedis) => isWhole(String(await client.cluster('INFO')))
  const areAllWhole = async () => (await Promise.all(nodes.map(ask))).every(Boolean)
  return waitUntil('the cluster is whole', areAllWhole, { timeoutMs: START_TIMEOUT_MS })
}
