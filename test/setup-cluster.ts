/** Before the cluster's tests: as setup.ts, but Redis is a cluster of three masters. */
import type { TestProject } from 'vitest/node'
import { LibraryProcess } from '../src/engine/library-process.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'
import { createLibrarySocketEnv } from '../src/platform/installation.ts'
import { startRedisCluster } from '../verification/support/redis-cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that the project tests; undefined: the one that the private Redis uses. */
    redisBinary?: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  delete process.env.npm_command // as when the program is on the PATH
  const python = await ensurePythonEnvironment(console.log)
  const library = new LibraryProcess(python)
  project.provide('python', python)
  project.provide('librarySocket', library.socket)
  Object.assign(process.env, createLibrarySocketEnv(library.socket))
  const cluster = await startRedisCluster(project.getProvidedContext().redisBinary)
  project.provide('redisUrl', cluster.url)
  return async () => {
    library.close()
    await cluster.stop()
  }
}
