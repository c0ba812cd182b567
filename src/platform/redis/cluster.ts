/** Operations that must reach every master if Redis is a cluster. */
import { Cluster, type Redis } from 'ioredis'

/** The servers that hold keys: the single Redis, or the masters of the cluster. */
export function listMasters(redis: Redis): Redis[] {
  const cluster = asCluster(redis)
  return cluster ? cluster.nodes('master') : [redis]
}

/** Resolves when every master has replied. */
export async function pingMasters(redis: Redis): Promise<void> {
  await Promise.all(listMasters(redis).map((node) => node.ping()))
}

/** Rejects with the reason if any part of Redis is unavailable. */
export async function assertRedisHealthy(redis: Redis): Promise<void> {
  await pingMasters(redis)
  const cluster = asCluster(redis)
  if (!cluster) return
  const state = /cluster_state:(\w+)/.exec(String(await cluster.cluster('INFO')))?.[1]
  if (state !== 'ok') throw new Error(`the Redis cluster's state is ${state}: a master is missing`)
}

function asCluster(redis: unknown): Cluster | undefined {
  return redis instanceof Cluster ? redis : undefined
}
