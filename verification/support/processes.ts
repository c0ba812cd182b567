/** The processes of a server, as the kernel lists them. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

interface TreeProcess {
  pid: number
  ppid: number
  args: string
}

/** All that these processes have started, and what that has started, parents before their children. */
export function listDescendants(...roots: number[]): TreeProcess[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,args=']).toString().trim().split('\n')
  const all = rows.map((row) => {
    const [, pid = '', ppid = '', args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? []
    return { pid: Number(pid), ppid: Number(ppid), args }
  })
  const children = Map.groupBy(all, ({ ppid }) => ppid)
  const found: TreeProcess[] = []
  const parents = [...roots]
  for (const parent of parents) {
    for (const child of (children.get(parent) ?? []).toSorted((a, b) => a.pid - b.pid)) {
      found.push(child)
      parents.push(child.pid)
    }
  }
  return found
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
  try {
    return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${path}`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
