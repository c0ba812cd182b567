/** Checks and repairs the append-only file of the private Redis. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Finding, fail, ok, warn } from '@reasoning-gym-server/cli/findings'
import { printStatus } from '@reasoning-gym-server/cli/output'
import type { ServerConfig } from '../../../platform/environment.ts'
import { errorMessage } from '../../../platform/throttled-log.ts'
import { getLockHolderPid, tryAcquireDataDirLock } from '../../bootstrap/data-folder.ts'
import type { FileLock } from '../../bootstrap/file-lock.ts'
import { getVenvState } from '../../bootstrap/python/python-environment.ts'
import {
  type DataFileState,
  inspectDataFile,
  type Loss,
  repairDataFile,
  requireNewEnoughRedis,
} from '../../bootstrap/redis/append-only-file.ts'
import { findRedisProcess, getRedisBinaryOnPath, resolveRedisBinary } from '../../bootstrap/redis/redis-process.ts'

const REPAIR_ADVICE =
  'start the server, which removes an incomplete last entry; if it does not start, run doctor --repair'

/** Returns undefined if there is no data, if the data is in use, or if no redis-server is installed yet. */
export async function checkDataFile(config: ServerConfig): Promise<Finding | undefined> {
  const folder = join(config.DATA_DIR, 'redis')
  const isInUse = getLockHolderPid(config.DATA_DIR) !== undefined || findRedisProcess(folder) !== undefined
  if (config.REDIS_URL !== undefined || isInUse || !(await isRedisInstalled())) return undefined
  const state = await inspectDataFile(await resolveRedisBinary(printStatus, config.PYTHON), folder)
  switch (state.kind) {
    case 'missing':
      return undefined
    case 'intact':
      return ok('Data', `${state.path} is intact`)
    case 'damaged':
      return warn('Data', describeDamagedPart(state), REPAIR_ADVICE)
    case 'unreadable':
      return buildUnreadableFinding(state)
  }
}

/** Copies a damaged file and cuts off its damaged end. Changes nothing while a server runs or if the file is intact. */
export async function repairData(config: ServerConfig): Promise<Finding> {
  if (config.REDIS_URL !== undefined)
    return fail(
      'Data',
      'the data is in the Redis at REDIS_URL',
      'stop that Redis, then run redis-check-aof --fix on its append-only file',
    )
  if (!existsSync(join(config.DATA_DIR, 'redis')))
    return ok('Data', `${config.DATA_DIR} holds no data: nothing to repair`)
  let lock: FileLock | undefined
  try {
    lock = tryAcquireDataDirLock(config.DATA_DIR)
    if (lock) return await repairUnusedData(config)
    const pid = getLockHolderPid(config.DATA_DIR)
    return fail(
      'Data',
      `process ${pid} runs a server on ${config.DATA_DIR}`,
      'stop that server, then run the repair again; nothing has been changed',
    )
  } catch (error) {
    return fail('Data', 'the repair failed', errorMessage(error))
  } finally {
    lock?.release()
  }
}

async function repairUnusedData(config: ServerConfig): Promise<Finding> {
  const folder = join(config.DATA_DIR, 'redis')
  const pid = findRedisProcess(folder)
  if (pid !== undefined)
    return fail('Data', `a redis-server (process ${pid}) still uses ${folder}`, `stop it first: kill ${pid}`)
  const binary = await resolveRedisBinary(printStatus, config.PYTHON)
  await requireNewEnoughRedis(binary, folder)
  const state = await inspectDataFile(binary, folder)
  switch (state.kind) {
    case 'missing':
      return ok('Data', `${folder} holds no data: nothing to repair`)
    case 'intact':
      return ok('Data', `${state.path} is intact: nothing to repair`)
    case 'unreadable':
      return buildUnreadableFinding(state)
    case 'damaged': {
      const { copy, loss } = await repairDataFile(binary, folder, state)
      const found = `${describeDamagedPart(state)}. The repair cut them off and saved the original file as ${copy}`
      return warn('Data', found, describeLoss(loss, state))
    }
  }
}

function describeDamagedPart({ path, offset, bytes }: DataFileState & { kind: 'damaged' }): string {
  return `the last ${bytes - offset} of ${bytes} bytes of ${path} cannot be read (from offset ${offset})`
}

function buildUnreadableFinding({ path, reason }: DataFileState & { kind: 'unreadable' }): Finding {
  return fail(
    'Data',
    `${path}: ${reason}`,
    'cutting off the end of the file would not help: restore a backup of the directory',
  )
}

function describeLoss({ entries, onlyZeros }: Loss, { offset }: { offset: number }): string {
  if (onlyZeros && offset === 0)
    return 'the whole file was zeros, so its data is lost: restore a backup if you have one'
  if (onlyZeros) return 'the part contained only zeros, as after a power failure: no data is lost'
  if (entries === 0) return 'the part contained no readable entry: at most the last change is lost'
  return `the part contained about ${entries} readable entries: these changes, such as accepted groups and acknowledgments, are lost. Submit again the groups that you still have`
}

async function isRedisInstalled(): Promise<boolean> {
  return (await getRedisBinaryOnPath()) !== undefined || getVenvState('requirements-redis.txt') === 'ready'
}
