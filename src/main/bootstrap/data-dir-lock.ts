/** One server for one data folder: two would write the same append-only file. */
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createUnusableFolderError } from './private-folder.ts'
import { isProcessAlive } from './private-redis.ts'
import { getCommandLine, getProcessIdentity, type ProcessIdentity } from './process-identity.ts'
import { StartupError } from './startup-error.ts'

const HEARTBEAT_INTERVAL_MS = 3_000
/** A server of another container that has not touched its claim for so long is gone; one that stands still for longer is lost. */
const STALE_LOCK_MS = 15_000
const POLL_INTERVAL_MS = 200

/** `server.pid` holds the bare number, for `kill`; `server.claim` what else is known of the process. */
const lockFilePaths = (dataDir: string) => ({ pid: join(dataDir, 'server.pid'), claim: join(dataDir, 'server.claim') })

interface LockHolder extends ProcessIdentity {
  lastHeartbeatAt: number
}

/** Throws if a living server has the folder; a claim that a killed one left is taken over. */
export async function acquireDataDirLock(
  dataDir: string,
  me: ProcessIdentity = getProcessIdentity(process.pid),
  staleMs = STALE_LOCK_MS,
): Promise<{ release(): void }> {
  const holder = getLockHolder(dataDir)
  if (holder && (await isLockHeld(dataDir, holder, me, staleMs))) {
    throw new StartupError(
      `Another server (process ${holder.pid}) uses ${dataDir}: stop it, or set DATA_DIR to another folder`,
    )
  }
  const { pid, claim } = lockFilePaths(dataDir)
  try {
    writeFileSync(claim, JSON.stringify(me))
    writeFileSync(pid, String(me.pid))
  } catch (error) {
    throw createUnusableFolderError(dataDir, error)
  }
  const beat = setInterval(() => touchFile(claim), Math.min(HEARTBEAT_INTERVAL_MS, staleMs / 5)).unref()
  return {
    release() {
      clearInterval(beat)
      const holder = getLockHolder(dataDir)
      if (holder?.pid !== me.pid || holder.world !== me.world) return // taken over while this server stood still
      rmSync(pid, { force: true })
      rmSync(claim, { force: true })
    },
  }
}

/** The process that has the folder; undefined if none is known to live. One of another container counts while its claim is fresh. */
export function getLockHolderPid(dataDir: string): number | undefined {
  const holder = getLockHolder(dataDir)
  if (!holder) return undefined
  const lives = isSamePidNamespace(holder, getProcessIdentity(process.pid))
    ? isSameProcessAlive(holder)
    : isHeartbeatFresh(holder, STALE_LOCK_MS)
  return lives ? holder.pid : undefined
}

/** A server of another container cannot be looked at: it lives if it touches its claim before that is stale. */
async function isLockHeld(dataDir: string, holder: LockHolder, me: ProcessIdentity, staleMs: number): Promise<boolean> {
  if (isSamePidNamespace(holder, me)) return holder.pid !== me.pid && isSameProcessAlive(holder)
  while (isHeartbeatFresh(holder, staleMs)) {
    await sleep(POLL_INTERVAL_MS)
    if (getLockHolder(dataDir)?.lastHeartbeatAt !== holder.lastHeartbeatAt) return getLockHolder(dataDir) !== undefined
  }
  return false
}

/** Whether its number means the same process here. */
function isSamePidNamespace({ world }: ProcessIdentity, me: ProcessIdentity): boolean {
  return world === '' || world === me.world
}

/** Whether its process lives, and is not a later one with its number. */
function isSameProcessAlive({ pid, started }: ProcessIdentity): boolean {
  if (!isProcessAlive(pid)) return false
  const now = getProcessIdentity(pid).started
  return started === '' || now === '' ? looksLikeServer(pid) : now === started
}

/** Where nothing tells when it began: by its command, `… src/main/serve.ts` or `reasoning-gym-server serve`, if that can be seen. */
function looksLikeServer(pid: number): boolean {
  return getCommandLine(pid)?.some((word) => /(^|\/)serve(\.ts)?$/.test(word)) ?? true
}

function isHeartbeatFresh({ lastHeartbeatAt }: LockHolder, staleMs: number): boolean {
  return Date.now() - lastHeartbeatAt < staleMs
}

/** Who claimed the folder last. A number without a claim of its own is of an older server, or was written by hand. */
function getLockHolder(dataDir: string): LockHolder | undefined {
  const places = lockFilePaths(dataDir)
  const pid = Number(readTextOrEmpty(places.pid) || Number.NaN)
  if (!Number.isInteger(pid)) return undefined
  const unknown = { pid, started: '', world: '', lastHeartbeatAt: 0 }
  try {
    const claim = JSON.parse(readTextOrEmpty(places.claim)) as ProcessIdentity // as claimFolder wrote it
    return claim.pid === pid ? { ...claim, lastHeartbeatAt: statSync(places.claim).mtimeMs } : unknown
  } catch {
    return unknown
  }
}

function readTextOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function touchFile(path: string): void {
  const now = new Date()
  try {
    utimesSync(path, now, now)
  } catch {} // the disk is away, or the folder: the server hears of that elsewhere
}
