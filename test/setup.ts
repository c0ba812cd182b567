/** For all tests: the Python environment, one private Redis and Python processes with the library, made while pure files run. */
import { existsSync, mkdtempSync, renameSync, rmSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { DEFAULT_HASH_SEED, LibraryProcess, locateLibrarySocket } from '../src/engine/library-process.ts'
import { ensurePythonEnvironment, venvPythonPath } from '../src/main/bootstrap/python/python-environment.ts'
import { type PrivateRedis, startPrivateRedis } from '../src/main/bootstrap/redis/private-redis.ts'
import { OTHER_HASH_SEED } from '../src/main/commands/task-checker.ts'
import { createLibrarySocketEnv } from '../src/platform/installation.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The interpreter that has the library. */
    python: string
    /** Of the process from which zygotes are forked. */
    librarySocket: string
    redisUrl: string
    /** A file that is there when the three above are, with the reason if they could not be made. */
    readyFile: string
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

interface Shared {
  libraries: LibraryProcess[]
  redis: PrivateRedis
}

export default function setup(project: TestProject): () => Promise<void> {
  delete process.env.npm_command // as when the program is on the PATH
  process.env.NODE_COMPILE_CACHE ??= COMPILE_CACHE_DIR
  process.env.API_PROCESSES ??= '1' // a server that a test starts needs no second one, which costs over 1 s of processor time
  const folder = createRedisFolder()
  const librarySocket = join(folder, 'library.sock')
  const redisUrl = join(folder, 'redis', 'redis.sock')
  const readyFile = join(folder, 'ready')
  project.provide('python', venvPythonPath())
  project.provide('librarySocket', librarySocket)
  project.provide('redisUrl', redisUrl)
  project.provide('readyFile', readyFile)
  Object.assign(process.env, createLibrarySocketEnv(librarySocket)) // servers that tests start as processes use it, too
  let problem = ''
  const starting = startShared(folder, librarySocket, redisUrl)
    .catch((error: Error) => {
      problem = error.message
    })
    .finally(() => {
      writeFileSync(`${readyFile}.new`, problem)
      renameSync(`${readyFile}.new`, readyFile)
    })
  return async () => {
    const shared = await starting
    for (const library of shared?.libraries ?? []) library.close()
    await shared?.redis.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Each appears where the tests were told to look for it. */
async function startShared(folder: string, librarySocket: string, redisUrl: string): Promise<Shared> {
  const say = (line: string) => console.log(line)
  const python = await ensurePythonEnvironment(say)
  const libraries = [DEFAULT_HASH_SEED, OTHER_HASH_SEED].map((hashSeed) => {
    const library = new LibraryProcess(python, hashSeed)
    symlinkSync(library.socket, locateLibrarySocket(librarySocket, hashSeed))
    return library
  })
  const redis = await startPrivateRedis(folder, say)
  if (redis.url !== redisUrl) symlinkSync(redis.url, redisUrl)
  return { libraries, redis }
}
