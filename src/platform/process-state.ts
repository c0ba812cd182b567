/** Whether a process still runs. Its ID alone does not say so: a process that has ended keeps it until its parent collects it. */
import { existsSync, readFileSync } from 'node:fs'

/** False on systems other than Linux. */
export const HAS_PROC = existsSync('/proc/self/stat')
/** Zombies and the dead: they hold no files, no locks and no sockets. */
const ENDED_STATES = new Set(['Z', 'X', 'x'])
const STUCK_STATES: Record<string, string> = {
  T: 'suspended',
  t: 'suspended by a debugger',
  D: 'waiting for its disk',
}

export function isProcessAlive(pid: number): boolean {
  if (!HAS_PROC) return isProcessIdTaken(pid)
  const state = readProcessState(pid)
  return state !== undefined && !ENDED_STATES.has(state)
}

/** `process 17`, with what keeps it from ending if that is known. */
export function describeProcess(pid: number): string {
  const stuck = STUCK_STATES[(HAS_PROC && readProcessState(pid)) || '']
  return stuck ? `process ${pid} (${stuck})` : `process ${pid}`
}

/** The letter after its name in `stat`; the name may contain spaces and parentheses. */
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
