/** The file of the private Redis: whether it can be read to its end, and on request its repair. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type DataFileState,
  inspectDataFile,
  type Loss,
  repairDataFile,
  requireNewEnoughRedis,
} from '../../main/bootstrap/append-only-file.ts'
import { type DataDirLock, getLockHolderPid, tryAcquireDataDirLock } from '../../main/bootstrap/data-dir-lock.ts'
import { findRedisProcess } from '../../main/bootstrap/orphaned-redis.ts'
import { getVenvState } from '../../main/bootstrap/python-environment.ts'
import { getRedisBinaryOnPath, resolveRedisBinary } from '../../main/bootstrap/redis-binary.ts'
import type { ServerConfig } from '../../platform/config.ts'
import { printStatus } from '../output.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const REPAIR_ADVICE = 'the start removes an entry that was cut off; if it refuses, run doctor --repair'

/** Undefined if there is no data, if it is in use, or if no redis-server is installed yet. */
export async function checkDataFile(config: ServerConfig): Promise<Finding | undefined> {
  const folder = join(config.DATA_DIR, 'redis')
  const isInUse = getLockHolderPid(config.DATA_DIR) !== undefined || findRedisProcess(folder) !== undefined
  if (config.REDIS_URL !== undefined || isInUse || !(await isRedisInstalled())) return undefined
  const state = await inspectDataFile(await resolveRedisBinary(printStatus, config.PYTHON), folder)
  switch (state.kind) {
    case 'missing':
      return undefined
    case 'intact':
      return ok('Data', `${state.path} can be read to its end`)
    case 'damaged':
      return warn('Data', describeDamagedPart(state), REPAIR_ADVICE)
    case 'unreadable':
      return buildUnreadableFinding(state)
  }
}

/** Cuts off the damaged end of the file and keeps a copy. Changes nothing while a server runs, or if there is no damage. */
export async function repairData(config: ServerConfig): Promise<Finding> {
  if (config.REDIS_URL !== undefined)
    return fail('Data', 'it is in the Redis of REDIS_URL', 'stop that Redis, and run redis-check-aof --fix on its file')
  if (!existsSync(join(config.DATA_DIR, 'redis'))) return ok('Data', `${config.DATA_DIR} has none: nothing to repair`)
  let lock: DataDirLock | undefined
  try {
    lock = tryAcquireDataDirLock(config.DATA_DIR)
    if (lock) return await repairUnusedData(config)
    const pid = getLockHolderPid(config.DATA_DIR)
    return fail('Data', `process ${pid} runs a server on ${config.DATA_DIR}`, 'stop it first; nothing has been changed')
  } catch (error) {
    return fail('Data', 'cannot be repaired', error instanceof Error ? error.message : String(error))
  } finally {
    lock?.release()
  }
}

async function repairUnusedData(config: ServerConfig): Promise<Finding> {
  const folder = join(config.DATA_DIR, 'redis')
  const pid = findRedisProcess(folder)
  if (pid !== undefined)
    return fail('Data', `a redis-server (process ${pid}) still has ${folder}`, `end it first: kill ${pid}`)
  const binary = await resolveRedisBinary(printStatus, config.PYTHON)
  await requireNewEnoughRedis(binary, folder)
  const state = await inspectDataFile(binary, folder)
  switch (state.kind) {
    case 'missing':
      return ok('Data', `${folder} has none: nothing to repair`)
    case 'intact':
      return ok('Data', `${state.path} can be read to its end: nothing to repair`)
    case 'unreadable':
      return buildUnreadableFinding(state)
    case 'damaged': {
      const { copy, loss } = await repairDataFile(binary, folder, state)
      const found = `${describeDamagedPart(state)}; they are cut off, and the file as it was is ${copy}`
      return warn('Data', found, describeLoss(loss, state))
    }
  }
}

function describeDamagedPart({ path, offset, bytes }: DataFileState & { kind: 'damaged' }): string {
  return `the last ${bytes - offset} of ${bytes} bytes of ${path} cannot be read (from offset ${offset})`
}

function buildUnreadableFinding({ path, reason }: DataFileState & { kind: 'unreadable' }): Finding {
  return fail('Data', `${path}: ${reason}`, 'cutting off its end would not help: put a backup of the folder back')
}

function describeLoss({ entries, onlyZeros }: Loss, { offset }: { offset: number }): string {
  if (onlyZeros && offset === 0)
    return 'the whole file was zeros: what it held is lost. Put a backup back if there is one'
  if (onlyZeros) return 'they were only zeros, as a power cut leaves them: no data is lost'
  if (entries === 0) return 'no entry could be read in them; if one was there, it was the last change, and it is lost'
  return `about ${entries} entries could be read behind the damage: these changes, such as accepted groups and acknowledgments, are lost. Post again what you still have`
}

async function isRedisInstalled(): Promise<boolean> {
  return (await getRedisBinaryOnPath()) !== undefined || getVenvState('requirements-redis.txt') === 'ready'
}
