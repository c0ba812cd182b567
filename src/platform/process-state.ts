/** Processes: what identifies this one in the fleet, and whether another one on this machine still runs. */
import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'

export type ProcessRole = 'api' | 'worker'

export interface ProcessIdentity {
  /** Host name and process ID. */
  process: string
  role: ProcessRole
}

export function createProcessIdentity(role: ProcessRole): ProcessIdentity {
  return { process: `${hostname()}/${process.pid}`, role }
}

/** False on systems other than Linux. */
export const HAS_PROC = existsSync('/proc/self/stat')
/** Zombies and dead processes hold no files, locks or sockets. */
const ENDED_STATES = new Set(['Z', 'X', 'x'])
const STUCK_STATES: Record<string, string> = {
  T: 'suspended',
  t: 'suspended by a debugger',
  D: 'waiting for its disk',
}

/** The ID alone is not enough: an ended process keeps its ID until its parent collects it. */
export function isProcessAlive(pid: number): boolean {
  if (!HAS_PROC) return isProcessIdTaken(pid)
  const state = readProcessState(pid)
  return state !== undefined && !ENDED_STATES.has(state)
}

/** `process 17`, with the reason why it does not end, if known. */
export function describeProcess(pid: number): string {
  const stuck = STUCK_STATES[(HAS_PROC && readProcessState(pid)) || '']
  return stuck ? `process ${pid} (${stuck})` : `process ${pid}`
}

/** The state letter after the name in `stat`; the name may contain spaces and parentheses. */
function readProcessState(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat[stat.lastIndexOf(')') + 2]
  } catch {
    return undefined
  }
}

function isProcessIdTaken(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' // the process belongs to another user
  }
}
