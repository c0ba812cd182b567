/** Before the cluster's tests: as setup.ts, but Redis is a cluster of three masters. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'
import { startRedisCluster } from '../verification/support/redis-cluster.ts'
import { startWarmPython } from './warm-python/warm-python.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that the project tests; undefined: the one that the private Redis uses. */
    redisBinary?: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const python = await ensurePythonEnvironment(console.log)
  const folder = mkdtempSync(join(tmpdir(), 'rgs-test-'))
  const warmPython = await startWarmPython(python, folder)
  project.provide('python', python)
  project.provide('warmPython', warmPython.command)
  const cluster = await startRedisCluster(project.getProvidedContext().redisBinary)
  project.provide('redisUrl', cluster.url)
  return async () => {
    warmPython.stop()
    await cluster.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
