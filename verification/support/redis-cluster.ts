/** A Redis Cluster of three masters on loopback, for tests: real servers with append-only files, gone with their folder. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { resolveRedisBinary } from '../../src/main/bootstrap/redis-binary.ts'
import { findFreePortPairs, LoopbackRedis } from './loopback-redis.ts'

const MASTER_COUNT = 3
const SLOT_COUNT = 16_384
const START_TIMEOUT_MS = 30_000
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
  stop(): Promise<void>
}

export async function startRedisCluster(): Promise<RedisCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-cluster-'))
  const binary = await resolveRedisBinary(console.log)
  const nodes = (await findFreePortPairs(MASTER_COUNT)).map(
    (port) => new LoopbackRedis(binary, folder, port, CLUSTER_SETTINGS),
  )
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await formCluster(nodes)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
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

/** Deals out the slots, makes the nodes known to each other, and waits until all agree. */
async function formCluster(nodes: LoopbackRedis[]): Promise<void> {
  const share = Math.ceil(SLOT_COUNT / nodes.length)
  for (const [k, { client }] of nodes.entries()) {
    const slots = Array.from({ length: Math.min(share, SLOT_COUNT - k * share) }, (_, n) => k * share + n)
    await client.cluster('ADDSLOTS', slots)
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', k + 1)
  }
  for (const { port } of nodes.slice(1)) await nodes[0]?.client.cluster('MEET', '127.0.0.1', port)
  await waitUntilClusterReady(nodes)
}

async function waitUntilClusterReady(nodes: LoopbackRedis[]): Promise<void> {
  for (const until = Date.now() + START_TIMEOUT_MS; Date.now() < until; await sleep(50)) {
    const told = await Promise.all(nodes.map(async ({ client }) => String(await client.cluster('INFO'))))
    if (told.every((info) => info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${MASTER_COUNT}`)))
      return
  }
  throw new Error(`the cluster was not whole within ${START_TIMEOUT_MS / 1000} s`)
}
