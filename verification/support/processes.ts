/** The processes of a server, as the kernel lists them. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

interface TreeProcess {
  pid: number
  ppid: number
  args: string
}

interface ListedProcess extends TreeProcess {
  /** Process group. */
  pgid: number
  /** One letter: R for one that uses the processor. */
  state: string
}

/** All processes of this machine, from /proc: a minimal Debian has no `ps`. */
export function listProcesses(): ListedProcess[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).flatMap((pid) => {
    const stat = readText(`${pid}/stat`)
    const [state = '', ppid, pgid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === '' ? [] : [{ pid, ppid: Number(ppid), pgid: Number(pgid), state, args: readArguments(pid) }]
  })
}

/** All that these processes have started, and what that has started, parents before their children. */
export function listDescendants(...roots: number[]): TreeProcess[] {
  const list = process.platform === 'linux' ? readChildren : createChildLister()
  const found: TreeProcess[] = []
  const parents = [...roots]
  for (const parent of parents) {
    for (const child of list(parent)) {
      found.push(child)
      parents.push(child.pid)
    }
  }
  return found
}

/** From /proc: a hundredth of what it takes to start `ps`. */
function readChildren(ppid: number): TreeProcess[] {
  const threads = listThreads(ppid)
  const pids = threads.flatMap((thread) => readText(`${ppid}/task/${thread}/children`).split(' ').filter(Boolean))
  const children = pids.map(Number).map((pid) => ({ pid, ppid, args: readArguments(pid) }))
  return children.filter(({ args }) => args !== '[]') // nothing is left of a process that was reaped since the list was read
}

function listThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return [] // it has ended
  }
}

/** A process that has ended and is not reaped has only a name, in brackets as `ps` writes it. */
function readArguments(pid: number): string {
  return readText(`${pid}/cmdline`).replaceAll('\0', ' ').trim() || `[${readText(`${pid}/comm`).trim()}]`
}

/** Where there is no /proc. */
function createChildLister(): (ppid: number) => TreeProcess[] {
  const rows = execFileSync('ps', ['-axo', 'pid=,ppid=,args=']).toString().trim().split('\n')
  const all = rows.map((row) => {
    const [, pid = '', ppid = '', args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? []
    return { pid: Number(pid), ppid: Number(ppid), args }
  })
  const children = Map.groupBy(all, ({ ppid }) => ppid)
  return (ppid) => children.get(ppid) ?? []
}

/** Proportional set size, which counts memory that processes share once. */
export function readProportionalMb(pid: number): number {
  return readKilobytes(`${pid}/smaps_rollup`, 'Pss') / 1024
}

/** A field of the status of a process, such as `VmRSS`. */
export function readStatusMb(pid: number, field: string): number {
  return readKilobytes(`${pid}/status`, field) / 1024
}

/** 0 if the process has ended. */
function readKilobytes(path: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readText(path))?.[1] ?? 0)
}

/** A file below /proc; empty if the process has ended. */
function readText(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return ''
  }
}
