/** Checks Redis, the port and the data directory. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmdirSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { getLocalUrl, isServerRunning } from '@reasoning-gym-server/cli/with-server'
import { type Finding, fail, ok, warn } from '@reasoning-gym-server/contract/finding'
import { requireRedisConfig, type ServerConfig } from '../../../platform/environment.ts'
import { connectForProbe, waitUntilReady } from '../../../platform/redis/connect.ts'
import { listDurabilityIssues } from '../../../platform/redis/durability.ts'
import { translateRedisError } from '../../../platform/redis/redis-errors.ts'
import { errorMessage } from '../../../platform/throttled-log.ts'
import { getLockHolderPid } from '../../bootstrap/data-folder.ts'
import { getVenvState, venvPythonPath } from '../../bootstrap/python/python-environment.ts'
import { getRedisBinaryOnPath } from '../../bootstrap/redis/redis-process.ts'

const execFileAsync = promisify(execFile)
const PROBE_TIMEOUT_MS = 5000
const MIN_FREE_BYTES = 2 * 2 ** 30
const FREE_SPACE_ADVICE = 'free some disk space: the private Redis and the dump files grow there'

export function checkRedis(config: ServerConfig): Promise<Finding> {
  return config.REDIS_URL === undefined ? checkPrivateRedis() : checkConfiguredRedis(config)
}

async function checkPrivateRedis(): Promise<Finding> {
  const found = await getRedisBinaryOnPath()
  if (found === undefined) {
    if (getVenvState('requirements-redis.txt') === 'ready')
      return ok('Redis', 'private; redis-server is installed with the library')
    const venv = dirname(dirname(venvPythonPath()))
    const problem = findWriteProblem(venv) ?? findWriteProblem(dirname(venv))
    if (problem === undefined) return ok('Redis', 'private; the next start installs redis-server into .venv')
    return fail(
      'Redis',
      `there is no redis-server on the PATH, and one cannot be installed: ${venv} is not writable (${problem})`,
      'install redis-server 6.2 or newer, or set REDIS_URL',
    )
  }
  const { stdout } = await execFileAsync(found, ['--version'])
  return ok('Redis', `private; redis-server ${/v=([\d.]+)/.exec(stdout)?.[1] ?? ''} on the PATH`)
}

async function checkConfiguredRedis(config: ServerConfig): Promise<Finding> {
  const { url, tls } = requireRedisConfig(config)
  const shown = url.replace(/\/\/[^@/]*@/, '//…@') // hide credentials
  const redis = connectForProbe({ url, tls })
  try {
    await waitUntilReady(redis, PROBE_TIMEOUT_MS)
    const version = /redis_version:([\d.]+)/.exec(await redis.info('server'))?.[1] ?? '0'
    const [major = 0, minor = 0] = version.split('.').map(Number)
    if (major < 6 || (major === 6 && minor < 2))
      return fail('Redis', `${version} at ${shown}`, 'upgrade to Redis 6.2 or newer')
    const gaps = await listDurabilityIssues(redis, config.REDIS_REPLICAS)
    if (gaps.length > 0) return warn('Redis', `${version} at ${shown}`, gaps.join('; '))
    return ok('Redis', `${version} at ${shown}`)
  } catch (error) {
    return fail(
      'Redis',
      errorMessage(translateRedisError(error)),
      'start that Redis or correct REDIS_URL; without REDIS_URL, the server starts a private Redis',
    )
  } finally {
    redis.disconnect()
  }
}

export async function checkPort(config: ServerConfig): Promise<Finding> {
  const { HOST, PORT } = config
  const place = `${HOST}:${PORT}`
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const probe = createServer()
  probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  probe.listen({ host: HOST, port: PORT }, () => probe.close(() => resolve(undefined)))
  const error = await promise
  if (error === undefined) return ok('Port', `${place} is free`)
  if (await isServerRunning(getLocalUrl(config)))
    return ok('Port', `a reasoning-gym-server answers at ${getLocalUrl(config)}`)
  if (error === 'EADDRINUSE')
    return fail(
      'Port',
      `${place} is already in use`,
      'stop the process that listens there, or set PORT to another port',
    )
  return fail(
    'Port',
    `cannot listen on ${place} (${error})`,
    'set HOST to an address of this machine and PORT to a port above 1023',
  )
}

export async function checkDisk({ DATA_DIR }: ServerConfig): Promise<Finding> {
  const problem = findWriteProblem(DATA_DIR)
  if (problem === 'ENOSPC' || problem === 'EDQUOT')
    return fail('Disk', `the disk of ${DATA_DIR} is full (${problem})`, FREE_SPACE_ADVICE)
  if (problem !== undefined)
    return fail('Disk', `${DATA_DIR} is not writable (${problem})`, 'set DATA_DIR to a directory that you can write to')
  let there = DATA_DIR
  while (!existsSync(there)) there = dirname(there)
  const { bavail, bsize } = await statfs(there)
  const free = `${((Number(bavail) * Number(bsize)) / 2 ** 30).toFixed(1)} GiB free for ${DATA_DIR}`
  if (Number(bavail) * Number(bsize) < MIN_FREE_BYTES) return warn('Disk', free, FREE_SPACE_ADVICE)
  return ok('Disk', free)
}

/** Returns undefined if this user can write to the directory or its nearest existing parent, and the system's error code otherwise. */
export function findWriteProblem(folder: string): string | undefined {
  let nearest = folder
  while (!existsSync(nearest) && nearest !== dirname(nearest)) nearest = dirname(nearest)
  try {
    rmdirSync(mkdtempSync(join(nearest, '.doctor-')))
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

/** Fails if another server uses the data directory. */
export async function checkDataDirOwner(config: ServerConfig): Promise<Finding | undefined> {
  const pid = getLockHolderPid(config.DATA_DIR)
  if (pid === undefined || (await isServerRunning(getLocalUrl(config)))) return undefined
  return fail(
    'Folder',
    `process ${pid} uses ${config.DATA_DIR}`,
    'stop that process, or set DATA_DIR to another directory',
  )
}
