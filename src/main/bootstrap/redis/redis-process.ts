/**
 * The process of the private Redis: its program, its socket, commands that are sent over it, and the end of a Redis that a killed
 * server left running. Each command has a timeout, because a stuck Redis still accepts connections.
 */
import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { describeProcess, HAS_PROC, isProcessAlive } from '../../../platform/process-state.ts'
import { poll } from '../../../platform/retry.ts'
import { createPrivateFolder } from '../data-folder.ts'
import { installRedisBinary } from '../python/python-environment.ts'
import { type ReportProgress, StartupError, withWaitNotice } from '../startup-report.ts'

const MAX_SOCKET_PATH_BYTES = 100
const ANSWER_TIMEOUT_MS = 2000

interface RedisSocket {
  path: string
  /** Deletes the temporary folder, if any. */
  remove(): void
}

/**
 * Next to the files of Redis, or in a temporary folder if that path is too long. Stable for a folder and a user, so that the server finds a Redis that a killed server left running.
 */
export function createRedisSocket(folder: string): RedisSocket {
  const beside = join(folder, 'redis.sock')
  if (Buffer.byteLength(beside) <= MAX_SOCKET_PATH_BYTES) return { path: beside, remove() {} }
  const ownerKey = `${process.getuid?.()} ${realpathSync(folder)}`
  const hash = createHash('sha256').update(ownerKey).digest('hex').slice(0, 16)
  const fallbackFolder = join(tmpdir(), `rgs-redis-${hash}`)
  createPrivateFolder(fallbackFolder)
  return {
    path: join(fallbackFolder, 'redis.sock'),
    remove: () => rmSync(fallbackFolder, { recursive: true, force: true }),
  }
}

type RedisAnswer = { kind: 'ready' } | { kind: 'loading'; loadedBytes: number; totalBytes: number } | { kind: 'silent' }

export async function askRedis(socket: string): Promise<RedisAnswer> {
  const [state = '', ...persistence] = (await send(socket, 'PING', 'INFO persistence')).split('\r\n')
  if (state === '+PONG') return { kind: 'ready' }
  if (!state.startsWith('-LOADING')) return { kind: 'silent' }
  const read = (field: string) => Number(persistence.find((line) => line.startsWith(`${field}:`))?.split(':')[1] ?? 0)
  return { kind: 'loading', loadedBytes: read('loading_loaded_bytes'), totalBytes: read('loading_total_bytes') }
}

/** Asks Redis to exit without saving, because the append-only file is complete. */
export async function requestRedisShutdown(socket: string): Promise<void> {
  await send(socket, 'SHUTDOWN NOSAVE')
}

/** Undefined if Redis does not answer. */
export async function countRedisKeys(socket: string): Promise<number | undefined> {
  const [, keys] = /^:(\d+)/.exec(await send(socket, 'DBSIZE')) ?? []
  return keys === undefined ? undefined : Number(keys)
}

/**
 * Sends commands as lines of text and returns the text of all replies; empty if Redis does not answer. The parent of the server's
 * processes needs no more, and ioredis would take 5 MB of it.
 */
async function send(path: string, ...commands: string[]): Promise<string> {
  const socket = connect(path)
  socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy(new Error('Redis does not answer')))
  socket.write([...commands, 'QUIT', ''].join('\r\n')) // then Redis ends the connection
  return text(socket).catch(() => '')
}

const REDIS_POLL_INTERVAL_MS = 50

export const getRedisPidFile = (folder: string) => join(folder, 'redis.pid')

/**
 * The process ID of the Redis that uses the folder; undefined if it has ended, even if its ID was reused. A Redis that does not
 * answer has left its ID in the file.
 */
export async function findRedisProcess(folder: string, socket: string): Promise<number | undefined> {
  const [, answered] = /^process_id:(\d+)/m.exec(await send(socket, 'INFO server')) ?? []
  return [Number(answered), readPid(folder)].find((pid) => isRedisOf(folder, pid))
}

function readPid(folder: string): number {
  try {
    return Number(readFileSync(getRedisPidFile(folder), 'utf8'))
  } catch {
    return Number.NaN // it never ran
  }
}

/**
 * Stops the private Redis that a killed server left running: two would write the same append-only file. Throws a StartupError that names the
 * process if it has not ended after `timeoutMs`.
 */
export async function stopOrphanedRedis(
  folder: string,
  socket: string,
  report: ReportProgress,
  timeoutMs: number,
): Promise<void> {
  const pid = await findRedisProcess(folder, socket)
  if (pid === undefined) return
  const holder = () => `a redis-server, ${describeProcess(pid)}, which an earlier server left on ${folder}`
  const advice = `if it is stuck, end it with \`kill -9 ${pid}\` (every write that it has answered is on disk); if it is suspended, \`kill -CONT ${pid}\` is enough`
  const isGone = await withWaitNotice(
    report,
    () => `waiting up to ${timeoutMs / 1000} s for ${holder()}, to end; ${advice}`,
    waitForEnd(() => !isRedisOf(folder, pid), socket, timeoutMs),
  )
  if (isGone) return
  throw new StartupError(
    `The data directory is still used by ${holder()}, which did not end within ${timeoutMs / 1000} s: ${advice}`,
  )
}

/** Repeats the request: Redis may be stuck, or not listen yet. */
async function waitForEnd(isGone: () => boolean, socket: string, timeoutMs: number): Promise<boolean> {
  const requestEnd = async () => {
    if (isGone()) return true
    await requestRedisShutdown(socket)
    return undefined
  }
  return (await poll(requestEnd, { everyMs: REDIS_POLL_INTERVAL_MS, timeoutMs })) ?? isGone()
}

/** Whether the process is a live Redis of this folder, rather than a process with a reused ID. */
function isRedisOf(folder: string, pid: number): boolean {
  if (!(pid > 0) || !isProcessAlive(pid)) return false
  try {
    if (HAS_PROC) return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder)
    return /redis|valkey/.test(execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }))
  } catch {
    return false // a process of another user, or it has just ended
  }
}

const execFileAsync = promisify(execFile)

/** The redis-server of this machine if it is new enough; otherwise the one installed with the library. */
export async function resolveRedisBinary(report: ReportProgress, python?: string): Promise<string> {
  return (await getRedisBinaryOnPath()) ?? installRedisBinary(report, python)
}

/** A redis-server from the PATH, if it is new enough for BullMQ. */
export async function getRedisBinaryOnPath(): Promise<string | undefined> {
  const [major, minor] = await getRedisVersion('redis-server')
  return major > 6 || (major === 6 && minor >= 2) ? 'redis-server' : undefined
}

/** Zeros if it cannot be run. */
export async function getRedisVersion(binary: string): Promise<[major: number, minor: number]> {
  const { stdout } = await execFileAsync(binary, ['--version']).catch(() => ({ stdout: '' }))
  const [major = 0, minor = 0] = (/v=(\d+)\.(\d+)/.exec(stdout)?.slice(1) ?? []).map(Number)
  return [major, minor]
}
