/** Runs a private Redis on a socket under the data folder. Redis writes every change to disk before it replies. */
import type { ChildProcess } from 'node:child_process'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawnProcess } from '../../../platform/spawn-process.ts'
import { createPrivateFolder } from '../data-folder.ts'
import { type ReportProgress, StartupError, withWaitNotice } from '../startup-report.ts'
import {
  askRedis,
  countRedisKeys,
  createRedisSocket,
  getRedisPidFile,
  getRedisVersion,
  requestRedisShutdown,
  resolveRedisBinary,
  stopOrphanedRedis,
} from './redis-process.ts'

/** Timeout without progress. Loading an append-only file of several gigabytes takes a while. */
const START_TIMEOUT_MS = 60_000
/** Within the grace period of a shutdown, after the other processes have ended. */
const STOP_TIMEOUT_MS = 5000
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Redis exits after a write to a full disk, which may stay full for a while. */
const RESTART_DELAY_MS = 500
/** Redis 7 and newer keep several append-only files in it. */
const MULTI_PART_FOLDER = 'appendonlydir'

export interface PrivateRedis {
  /** The path of the socket. */
  url: string
  /** Call this once data is stored: a later start on an empty Redis then warns. */
  noteUse(): void
  stop(): Promise<void>
}

/** Stops a Redis that a killed server left running, starts a new one and restarts it if it exits. */
export async function startPrivateRedis(
  dataDir: string,
  report: ReportProgress,
  python?: string,
  warn = report,
): Promise<PrivateRedis> {
  const folder = resolve(dataDir, 'redis')
  createPrivateFolder(folder) // the data includes model API keys and answers, which other users must not read
  const socket = createRedisSocket(folder)
  const url = socket.path
  await stopOrphanedRedis(folder, url, report, START_TIMEOUT_MS)
  const binary = await resolveRedisBinary(report, python)
  await requireNewEnoughRedis(binary, folder)
  const args = Object.entries(buildSettings(folder, url)).flatMap(([name, value]) => [`--${name}`, value])
  let closing = false
  let up = false
  let failure: string | undefined
  let timer: NodeJS.Timeout | undefined
  const handleEnd = (how: string) => {
    failure = how
    if (closing || !up) return
    report(`the private Redis ${how} and is restarted; ${getLogFile(folder)} has the reason`)
    timer = setTimeout(() => {
      current = start()
    }, RESTART_DELAY_MS)
  }
  const start = () => {
    // Detached from Ctrl-C: the server stops Redis last. The next server finds it by its working directory and process ID.
    const child = spawnProcess(binary, args, { cwd: folder, stdio: 'ignore', detached: true }, handleEnd)
    notePid(folder, child?.pid)
    return child
  }
  let current = start()
  const stopAbruptly = () => void current?.kill('SIGTERM')
  process.once('exit', stopAbruptly) // Redis then flushes its data
  const stopOnSignal = (signal: NodeJS.Signals) => {
    stopAbruptly()
    process.kill(process.pid, signal) // this listener is gone
  }
  for (const signal of STOP_SIGNALS) process.once(signal, stopOnSignal) // until the server can stop as a whole
  failure = await waitUntilResponding(() => failure, current?.pid, url, report)
  for (const signal of STOP_SIGNALS) process.off(signal, stopOnSignal)
  if (failure !== undefined) {
    process.off('exit', stopAbruptly)
    stopAbruptly()
    throw explainFailedStart(failure, binary, folder)
  }
  up = true
  notePid(folder, current?.pid) // the disk may have been full before
  await warnIfDataIsGone(folder, url, warn)
  return {
    url,
    noteUse: () => noteFolderUse(folder),
    async stop() {
      closing = true
      clearTimeout(timer)
      await stopRedisChild(current, url, report)
      process.off('exit', stopAbruptly)
      socket.remove()
    },
  }
}

/** In place of Redis, which would leave an empty file on a full disk. There, the file stays as it was, and the server continues. */
function notePid(folder: string, pid: number | undefined): void {
  if (pid === undefined) return
  const file = getRedisPidFile(folder)
  try {
    writeFileSync(`${file}.new`, String(pid))
    renameSync(`${file}.new`, file)
  } catch {}
}

const getLogFile = (folder: string) => join(folder, 'redis.log')

function buildSettings(folder: string, socket: string): Record<string, string> {
  return {
    port: '0',
    unixsocket: socket,
    unixsocketperm: '700',
    dir: folder,
    logfile: getLogFile(folder),
    appendonly: 'yes',
    appendfsync: 'always',
    'auto-aof-rewrite-min-size': '256mb', // at 64 MB, large groups would trigger a rewrite every second or two
    'maxmemory-policy': 'noeviction',
    save: '',
    daemonize: 'no',
  }
}

/** Why Redis does not respond; undefined once it does. While it loads its data, only a lack of progress counts as failure. */
async function waitUntilResponding(
  getFailure: () => string | undefined,
  pid: number | undefined,
  url: string,
  report: ReportProgress,
): Promise<string | undefined> {
  let progress = 'it does not answer yet'
  const wait = async () => {
    let loadedBytes = 0
    for (
      let deadline = Date.now() + START_TIMEOUT_MS;
      Date.now() < deadline && getFailure() === undefined;
      await sleep(25)
    ) {
      const answer = await askRedis(url)
      if (answer.kind === 'ready') return undefined
      if (answer.kind === 'silent' || answer.loadedBytes <= loadedBytes) continue
      loadedBytes = answer.loadedBytes
      deadline = Date.now() + START_TIMEOUT_MS
      progress = `it has loaded ${toMebibytes(loadedBytes)} of ${toMebibytes(answer.totalBytes)} MiB of its data`
    }
    return getFailure() ?? `made no progress for ${START_TIMEOUT_MS / 1000} s`
  }
  const line = () => `waiting for the private Redis (process ${pid}): ${progress}; Ctrl-C ends the start`
  return withWaitNotice(report, line, wait())
}

const toMebibytes = (bytes: number) => Math.round(bytes / 2 ** 20)

function explainFailedStart(failure: string, binary: string, folder: string): StartupError {
  const files = [join(folder, MULTI_PART_FOLDER, 'appendonly.aof.manifest'), join(folder, 'appendonly.aof')]
  const file = files.find((path) => existsSync(path))
  // redis-server acts as redis-check-aof if it has that name, and the Python package has only redis-server.
  const repair = `bash -c 'exec -a redis-check-aof "${binary}" --fix "${file}"'`
  const advice = file && ` If it says that the append-only file is damaged, copy ${folder}, then run: ${repair}.`
  return new StartupError(
    `The private Redis does not start: it ${failure}. ${getLogFile(folder)} has the reason.${advice ?? ''} To use your own Redis instead, set REDIS_URL.`,
  )
}

/** An older Redis would not see the files of Redis 7, and would start empty. */
async function requireNewEnoughRedis(binary: string, folder: string): Promise<void> {
  if (!existsSync(join(folder, MULTI_PART_FOLDER))) return
  const [major, minor] = await getRedisVersion(binary)
  if (major >= 7) return
  throw new StartupError(
    `${folder} was written by Redis 7 or newer, but ${binary} is version ${major}.${minor}. Put the newer redis-server on the PATH, or set DATA_DIR to another folder.`,
  )
}

/** After the timeout Redis is killed. This loses nothing: every acknowledged write is on disk. */
async function stopRedisChild(child: ChildProcess | undefined, url: string, report: ReportProgress): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  const killTimer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  const line = () => `waiting up to ${STOP_TIMEOUT_MS / 1000} s for the private Redis (process ${child.pid}) to end`
  await requestRedisShutdown(url)
  await withWaitNotice(report, line, promise)
  clearTimeout(killTimer)
}

const getMarker = (folder: string) => join(folder, 'in-use')

function noteFolderUse(folder: string): void {
  if (existsSync(getMarker(folder))) return
  writeFileSync(getMarker(folder), `Data of a reasoning-gym-server is stored here since ${new Date().toISOString()}.\n`)
}

/** Warns if Redis starts empty on a folder that has held data: nothing else would reveal the loss. */
async function warnIfDataIsGone(folder: string, socket: string, warn: (line: string) => void): Promise<void> {
  if (!existsSync(getMarker(folder)) || (await countRedisKeys(socket)) !== 0) return
  warn(
    `${folder} has held data before, but its append-only file is empty or gone: everything that was accepted is unknown now. If you did not delete it, stop the server and put a copy of the file back`,
  )
}
