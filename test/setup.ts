/** Before all tests: the Python environment, one private Redis and one Python process with the library for the whole run. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'
import { startPrivateRedis } from '../src/main/bootstrap/redis/private-redis.ts'
import { startWarmPython } from './warm-python/warm-python.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The interpreter that has the library. */
    python: string
    /** Like `python`, but zygotes start at once. */
    warmPython: string
    redisUrl: string
  }
}

/** Tests start the command line and servers hundreds of times: compiled once, a start takes half the processor time. */
const COMPILE_CACHE_DIR = join(import.meta.dirname, '..', 'node_modules', '.cache', 'reasoning-gym-server')

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const say = (line: string) => console.log(line)
  process.env.NODE_COMPILE_CACHE ??= COMPILE_CACHE_DIR
  const folder = mkdtempSync(join(tmpdir(), 'rgs-test-'))
  const python = await ensurePythonEnvironment(say)
  const [redis, warmPython] = await Promise.all([startPrivateRedis(folder, say), startWarmPython(python, folder)])
  project.provide('python', python)
  project.provide('warmPython', warmPython.command)
  project.provide('redisUrl', redis.url)
  process.env.ENGINE_PYTHON ??= warmPython.command // servers that tests start as processes use it, too
  return async () => {
    warmPython.stop()
    await redis.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
