/** Checks and repairs the append-only file, which holds the data of the private Redis. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, existsSync } from 'node:fs'
import { copyFile, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartupError } from '../startup-report.ts'
import { getRedisVersion } from './redis-process.ts'

const MULTI_PART_FOLDER = 'appendonlydir'

export type DataFileState =
  | { kind: 'missing' }
  | { kind: 'intact'; path: string }
  /** Redis can read the bytes before `offset`. */
  | { kind: 'damaged'; path: string; offset: number; bytes: number }
  /** The damage is where nothing can be cut off, such as in the snapshot that the file begins with. */
  | { kind: 'unreadable'; path: string; reason: string }

/** Redis 7 and newer use several files, which a manifest lists. Undefined without data. */
function findDataFile(folder: string): string | undefined {
  const files = [join(folder, MULTI_PART_FOLDER, 'appendonly.aof.manifest'), join(folder, 'appendonly.aof')]
  return files.find((path) => existsSync(path))
}

/** An older Redis would not see the files of Redis 7, and would start empty. */
export async function requireNewEnoughRedis(binary: string, folder: string): Promise<void> {
  if (!existsSync(join(folder, MULTI_PART_FOLDER))) return
  const [major, minor] = await getRedisVersion(binary)
  if (major >= 7) return
  throw new StartupError(
    `${folder} was written by Redis 7 or newer, but ${binary} is version ${major}.${minor}. Put the newer redis-server on the PATH, or set DATA_DIR to another folder.`,
  )
}

/** Changes nothing. No Redis may run on the folder. */
export async function inspectDataFile(binary: string, folder: string): Promise<DataFileState> {
  const path = findDataFile(folder)
  if (path === undefined) return { kind: 'missing' }
  const { isValid, output } = await runCheck(binary, [path])
  if (isValid) return { kind: 'intact', path }
  if (/^Empty file:/m.test(output)) return { kind: 'intact', path } // as Redis 6 creates it
  for (const [, name, bytes, offset, rest] of output.matchAll(ANALYSIS)) {
    if (Number(rest) === 0) continue
    return {
      kind: 'damaged',
      path: name ? join(dirname(path), name) : path,
      offset: Number(offset),
      bytes: Number(bytes),
    }
  }
  return { kind: 'unreadable', path, reason: lastLine(output) }
}

const ANALYSIS = /^AOF analyzed: (?:filename=(.+?), )?size=(\d+), ok_up_to=(\d+), ok_up_to_line=\d+, diff=(\d+)$/gm

/** The message for a damaged file: which one, where, and what to do. Undefined if the file is intact. */
export async function describeDamage(binary: string, folder: string): Promise<string | undefined> {
  const state = await inspectDataFile(binary, folder).catch(() => undefined) // there is no such binary
  if (state === undefined) return undefined
  if (state.kind === 'damaged') {
    const { path, offset, bytes } = state
    return `The private Redis cannot read its data: ${path} is damaged at offset ${offset} of ${bytes} bytes. Nothing has been changed. To keep a copy of the file and cut off the last ${bytes - offset} bytes, run: ${formatRepairCommand(folder)}`
  }
  if (state.kind === 'unreadable') {
    return `The private Redis cannot read its data: ${state.path} is damaged (${state.reason}), and cutting off its end would not help. Nothing has been changed. Put a backup of ${folder} back, or set DATA_DIR to another folder`
  }
  return undefined
}

function formatRepairCommand(folder: string): string {
  return `npx reasoning-gym-server doctor --repair --data-dir ${quoteForShell(dirname(folder))}`
}

const quoteForShell = (text: string) => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

interface Repair {
  copy: string
  loss: Loss
}

export interface Loss {
  bytes: number
  /** Roughly how many entries can still be read in what was cut off. */
  entries: number
  onlyZeros: boolean
}

/** Copies the damaged file, then truncates it where the damage begins. No Redis may use the folder. */
export async function repairDataFile(
  binary: string,
  folder: string,
  damage: { path: string; offset: number },
): Promise<Repair> {
  const copy = `${damage.path}.damaged-${new Date().toISOString().replaceAll(':', '-')}`
  await keepCopy(damage.path, copy)
  const loss = await measureLoss(copy, damage.offset)
  const { isValid, output } = await runCheck(binary, ['--fix', findDataFile(folder) ?? damage.path])
  if (!isValid) throw new Error(`redis-check-aof: ${lastLine(output)}; a copy of the file is ${copy}`)
  await syncToDisk(damage.path)
  return { copy, loss }
}

/** A redis-server called by the name redis-check-aof acts as that program. It asks before it repairs. */
async function runCheck(binary: string, args: string[]): Promise<{ isValid: boolean; output: string }> {
  const child = spawn(binary, args, { argv0: 'redis-check-aof' })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stdin.on('error', () => {}) // it has ended without asking
  child.stdin.end('y\n')
  const [code] = (await once(child, 'close')) as [number | null] // as Node documents
  return { isValid: code === 0, output }
}

const lastLine = (output: string) => output.trim().split('\n').at(-1) ?? ''

async function keepCopy(path: string, copy: string): Promise<void> {
  try {
    await copyFile(path, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    await syncToDisk(copy)
  } catch (error) {
    await rm(copy, { force: true })
    throw new Error(`The file could not be copied, so nothing was changed: ${String(error)}`, { cause: error })
  }
}

async function syncToDisk(path: string): Promise<void> {
  await using file = await open(path, 'r+')
  await file.sync()
}

async function measureLoss(path: string, offset: number): Promise<Loss> {
  const loss = { bytes: 0, entries: 0, onlyZeros: true }
  await using file = await open(path)
  let rest = ''
  for await (const chunk of file.createReadStream({ start: offset, autoClose: false, highWaterMark: 1 << 20 })) {
    const bytes = chunk as Buffer // without an encoding
    const text = rest + bytes.toString('latin1')
    loss.bytes += bytes.length
    loss.entries += [...text.matchAll(/\r\n\*\d+\r\n\$/g)].length
    loss.onlyZeros &&= bytes.every((byte) => byte === 0)
    rest = text.slice(1 - '\r\n*3\r\n$'.length)
  }
  return loss
}
