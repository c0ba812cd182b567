/** One server for one data folder: two would write the same append-only file. */
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { unusable } from './own-folder.ts'
import { PrepareError } from './prepare-error.ts'
import { isAlive } from './private-redis.ts'
import { commandOf, identityOf, type ProcessIdentity } from './process-identity.ts'

const BEAT_MS = 3_000
/** A server of another container that has not touched its claim for so long is gone; one that stands still for longer is lost. */
const STALE_MS = 15_000
const LOOK_MS = 200

/** `server.pid` holds the bare number, for `kill`; `server.claim` what else is known of the process. */
const placesIn = (dataDir: string) => ({ pid: join(dataDir, 'server.pid'), claim: join(dataDir, 'server.claim') })

interface Holder extends ProcessIdentity {
  touchedAt: number
}

/** Throws if a living server has the folder; a claim that a killed one left is taken over. */
export async function claimFolder(
  dataDir: string,
  me: ProcessIdentity = identityOf(process.pid),
  staleMs = STALE_MS,
): Promise<{ release(): void }> {
  const holder = holderOf(dataDir)
  if (holder && (await isHeld(dataDir, holder, me, staleMs))) {
    throw new PrepareError(
      `Another server (process ${holder.pid}) uses ${dataDir}: stop it, or set DATA_DIR to another folder`,
    )
  }
  const { pid, claim } = placesIn(dataDir)
  try {
    writeFileSync(claim, JSON.stringify(me))
    writeFileSync(pid, String(me.pid))
  } catch (error) {
    throw unusable(dataDir, error)
  }
  const beat = setInterval(() => touch(claim), Math.min(BEAT_MS, staleMs / 5)).unref()
  return {
    release() {
      clearInterval(beat)
      const holder = holderOf(dataDir)
      if (holder?.pid !== me.pid || holder.world !== me.world) return // taken over while this server stood still
      rmSync(pid, { force: true })
      rmSync(claim, { force: true })
    },
  }
}

/** The process that has the folder; undefined if none is known to live. One of another container counts while its claim is fresh. */
export function livingHolder(dataDir: string): number | undefined {
  const holder = holderOf(dataDir)
  if (!holder) return undefined
  const lives = isNear(holder, identityOf(process.pid)) ? isThere(holder) : isFresh(holder, STALE_MS)
  return lives ? holder.pid : undefined
}

/** A server of another container cannot be looked at: it lives if it touches its claim before that is stale. */
async function isHeld(dataDir: string, holder: Holder, me: ProcessIdentity, staleMs: number): Promise<boolean> {
  if (isNear(holder, me)) return holder.pid !== me.pid && isThere(holder)
  while (isFresh(holder, staleMs)) {
    await sleep(LOOK_MS)
    if (holderOf(dataDir)?.touchedAt !== holder.touchedAt) return holderOf(dataDir) !== undefined
  }
  return false
}

/** Whether its number means the same process here. */
function isNear({ world }: ProcessIdentity, me: ProcessIdentity): boolean {
  return world === '' || world === me.world
}

/** Whether its process lives, and is not a later one with its number. */
function isThere({ pid, started }: ProcessIdentity): boolean {
  if (!isAlive(pid)) return false
  const now = identityOf(pid).started
  return started === '' || now === '' ? mayBeServer(pid) : now === started
}

/** Where nothing tells when it began: by its command, `… src/serve.ts` or `reasoning-gym-server serve`, if that can be seen. */
function mayBeServer(pid: number): boolean {
  return commandOf(pid)?.some((word) => /(^|\/)serve(\.ts)?$/.test(word)) ?? true
}

function isFresh({ touchedAt }: Holder, staleMs: number): boolean {
  return Date.now() - touchedAt < staleMs
}

/** Who claimed the folder last. A number without a claim of its own is of an older server, or was written by hand. */
function holderOf(dataDir: string): Holder | undefined {
  const places = placesIn(dataDir)
  const pid = Number(read(places.pid) || Number.NaN)
  if (!Number.isInteger(pid)) return undefined
  const unknown = { pid, started: '', world: '', touchedAt: 0 }
  try {
    const claim = JSON.parse(read(places.claim)) as ProcessIdentity // as claimFolder wrote it
    return claim.pid === pid ? { ...claim, touchedAt: statSync(places.claim).mtimeMs } : unknown
  } catch {
    return unknown
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function touch(path: string): void {
  const now = new Date()
  try {
    utimesSync(path, now, now)
  } catch {} // the disk is away, or the folder: the server hears of that elsewhere
}
