/** The machine that is measured on: cores, pinning, and what processes used, as /proc says. */
import { execFile, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

export const BENCH_ARTIFACTS_DIR = join(import.meta.dirname, '..', 'artifacts', 'bench')
const TICKS_PER_S = 100
const PAGE_MB = 4096 / 2 ** 20

const CORES = availableParallelism()
const canPin = CORES >= 2 && spawnSync('taskset', ['-V']).status === 0
/** What is measured on one core runs here, the load there. */
export const SERVER_CORE = 0
export const LOAD_CORE = 1

/** A command that runs on one core, where that can be had. */
export function pinCommand(core: number | undefined, command: string[]): string[] {
  return canPin && core !== undefined ? ['taskset', '-c', String(core), ...command] : command
}

/** Binds a process, its threads and all below it to one core. */
export async function pinProcessTree(pid: number, core: number): Promise<void> {
  if (!canPin) return
  for (const { pid: one } of listProcessTree(pid)) {
    await promisify(execFile)('taskset', ['-a', '-c', '-p', String(core), String(one)]).catch(() => {}) // it has ended
  }
}

export function describeMachine() {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: CORES,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    pinned: canPin,
    load: loadavg()[0],
  }
}

/** Processor seconds that the machine has been busy. */
export function getBusyCpuSeconds(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.trim().split(/ +/).slice(1).map(Number)
  return (user + nice + system + irq + softirq) / TICKS_PER_S
}

interface ProcessUsage {
  pid: number
  parent: number
  seconds: number
  memoryMb: number
  command: string
}

/** The process and all below it. */
export function listProcessTree(pid: number): ProcessUsage[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readProcess(Number(name)) : []))
  const found = all.filter((one) => one.pid === pid)
  for (const one of found) found.push(...all.filter(({ parent }) => parent === one.pid))
  return found
}

export async function getTreeCpuSeconds(pid: number): Promise<number> {
  return (await getTreeUsage(pid)).seconds
}

/** What a process and all below it have used. Memory is resident: pages shared by forks count in each. */
export async function getTreeUsage(pid: number): Promise<{ seconds: number; memoryMb: number }> {
  const all = listProcessTree(pid)
  const sum = (of: (one: ProcessUsage) => number) => all.reduce((total, one) => total + of(one), 0)
  return { seconds: sum(({ seconds }) => seconds), memoryMb: Math.round(sum(({ memoryMb }) => memoryMb)) }
}

/** Memory of a process and all below it, with each shared page divided among the processes that share it. */
export function getTreePssMb(pid: number): number {
  const sizes = listProcessTree(pid).map(({ pid: one }) => {
    try {
      return Number(/^Pss: +(\d+)/m.exec(readFileSync(`/proc/${one}/smaps_rollup`, 'utf8'))?.[1])
    } catch {
      return 0 // it has ended
    }
  })
  return Math.round(sizes.reduce((sum, kilobytes) => sum + kilobytes, 0) / 1024)
}

const IDLE_SHARE = 0.05
const IDLE_WINDOW_MS = 500
const IDLE_TIMEOUT_MS = 60_000

/** Waits until a process and all below it have ended what they began for clients that are gone. Throws if they do not. */
export async function waitUntilIdle(pid: number): Promise<void> {
  let before = await getTreeCpuSeconds(pid)
  for (const until = performance.now() + IDLE_TIMEOUT_MS; performance.now() < until; ) {
    await sleep(IDLE_WINDOW_MS)
    const now = await getTreeCpuSeconds(pid)
    if (now - before < (IDLE_SHARE * IDLE_WINDOW_MS) / 1000) return
    before = now
  }
  throw new Error(`Process ${pid} does not come to rest: nothing can be measured beside it`)
}

function readProcess(pid: number): ProcessUsage[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    // Its own, and that of children that have ended: hosts come and go.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    const seconds = ticks / TICKS_PER_S
    return [{ pid, parent: Number(fields[1]), seconds, memoryMb: Number(fields[21]) * PAGE_MB, command }]
  } catch {
    return [] // it has ended
  }
}
