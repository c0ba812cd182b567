/** Before the cluster's tests: as setup.ts, but Redis is a cluster of three masters. */
import type { TestProject } from 'vitest/node'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'
import { startRedisCluster } from '../verification/support/redis-cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that the project tests; undefined: the one that the private Redis uses. */
    redisBinary?: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide('python', await ensurePythonEnvironment(console.log))
  const cluster = await startRedisCluster(project.getProvidedContext().redisBinary)
  project.provide('redisUrl', cluster.url)
  return () => cluster.stop()
}
