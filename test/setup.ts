/** Before all tests: the Python environment, one private Redis and one Python process with the library for the whole run. */
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { LibraryProcess } from '../src/engine/library-process.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'
import { startPrivateRedis } from '../src/main/bootstrap/redis/private-redis.ts'
import { createLibrarySocketEnv } from '../src/platform/installation.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The interpreter that has the library. */
    python: string
    /** Of the process from which zygotes are forked. */
    librarySocket: string
    redisUrl: string
  }
}

/** Tests start the command line and servers hundreds of times: compiled once, a start takes half the processor time. */
const COMPILE_CACHE_DIR = join(import.meta.dirname, '..', 'node_modules', '.cache', 'reasoning-gym-server')

const MEMORY = '/dev/shm'

/** In memory, where there is room: Redis waits for the disk at each write, and nobody needs its data after the run. */
function createRedisFolder(): string {
  const room = existsSync(MEMORY) ? statfsSync(MEMORY) : undefined
  const isRoomy = room !== undefined && room.bavail * room.bsize > 2 ** 30
  return mkdtempSync(join(isRoomy ? MEMORY : tmpdir(), 'rgs-test-'))
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const say = (line: string) => console.log(line)
  process.env.NODE_COMPILE_CACHE ??= COMPILE_CACHE_DIR
  const folder = createRedisFolder()
  const python = await ensurePythonEnvironment(say)
  const library = new LibraryProcess(python)
  const redis = await startPrivateRedis(folder, say)
  project.provide('python', python)
  project.provide('librarySocket', library.socket)
  project.provide('redisUrl', redis.url)
  Object.assign(process.env, createLibrarySocketEnv(library.socket)) // servers that tests start as processes use it, too
  process.env.API_PROCESSES ??= '1' // such a server needs no second one, which costs over 1 s of processor time
  return async () => {
    library.close()
    await redis.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
