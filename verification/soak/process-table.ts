/** Reads memory, file descriptors and processor time of a server's processes from /proc. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const ROLES: [RegExp, string][] = [
  [/src\/main\/serve\.ts/, 'npm start'],
  [/src\/main\/api\.ts/, 'api'],
  [/src\/main\/worker\.ts/, 'worker'],
  [/redis-server/, 'redis'],
  [/<defunct>/, 'zombies'],
]
const SINGLE_ROLES = new Set(['npm start', 'redis', 'python workers', 'zombies'])
const TICKS_PER_SECOND = 100

export interface ProcessReading {
  /** Role, with a number if several processes have it: `api 1`. All Python workers count as one. */
  name: string
  pids: number[]
  /** Maximum of a single process. */
  largestMb: number
  /** Proportional set size, which counts memory that a zygote shares with its forks once. */
  memoryMb: number
  /** Maximum of a single process. */
  fileDescriptors: number
}

/** The server process and all its descendants. */
export function readProcesses(root: number): ProcessReading[] {
  const readings = new Map<string, ProcessReading>()
  const counts = new Map<string, number>()
  for (const { pid, args, isFork } of listTree(root)) {
    const role = args.includes('zygote.py')
      ? isFork
        ? 'python workers'
        : 'zygote'
      : ROLES.find(([pattern]) => pattern.test(args))?.[1]
    if (role === undefined) continue // `ps`, or a child of Redis that rewrites its file
    const count = (counts.get(role) ?? 0) + 1
    counts.set(role, count)
    const name = SINGLE_ROLES.has(role) ? role : `${role} ${count}`
    const reading = readings.get(name) ?? { name, pids: [], largestMb: 0, memoryMb: 0, fileDescriptors: 0 }
    reading.pids.push(pid)
    const memoryMb = readProportionalMb(pid)
    reading.memoryMb += memoryMb
    reading.largestMb = Math.max(reading.largestMb, memoryMb)
    reading.fileDescriptors = Math.max(reading.fileDescriptors, countFileDescriptors(pid))
    readings.set(name, reading)
  }
  return [...readings.values()]
}

/** Processor time in seconds that the server and its descendants have used, including that of ended children. */
export function readCpuSeconds(root: number): number {
  return listTree(root).reduce((sum, { pid }) => sum + readTicks(pid) / TICKS_PER_SECOND, 0)
}

interface TreeProcess {
  pid: number
  args: string
  /** Whether a zygote forked the process. */
  isFork: boolean
}

function listTree(root: number): TreeProcess[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,args=']).toString().trim().split('\n')
  const all = rows.map((row) => {
    const [, pid = '', ppid = '', args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? []
    return { pid: Number(pid), ppid: Number(ppid), args }
  })
  const children = Map.groupBy(all, ({ ppid }) => ppid)
  const found: TreeProcess[] = all
    .filter(({ pid }) => pid === root)
    .map(({ pid, args }) => ({ pid, args, isFork: false }))
  for (const { pid, args } of found) {
    for (const child of (children.get(pid) ?? []).toSorted((a, b) => a.pid - b.pid)) {
      found.push({ ...child, isFork: args.includes('zygote.py') })
    }
  }
  return found
}

function readProportionalMb(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readProc(`${pid}/smaps_rollup`))?.[1] ?? 0) / 1024
}

function readTicks(pid: number): number {
  const fields = readProc(`${pid}/stat`)
    .replace(/^.*\) /, '')
    .split(' ')
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0) // utime, stime, and those of ended children
}

function countFileDescriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0 // the process has ended
  }
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return '' // the process has ended
  }
}
