/** The processor time of the Python workers of this process, which the load of the machine does not change. Linux only. */
import { readdirSync, readFileSync } from 'node:fs'

const MS_PER_TICK = 10

/** The sum over all living descendants of this process, and over their children that have ended. */
export function readChildProcessorMs(): number {
  return listChildren(process.pid).reduce((sum, pid) => sum + readTreeMs(pid), 0)
}

function readTreeMs(pid: number): number {
  return listChildren(pid).reduce((sum, child) => sum + readTreeMs(child), readProcessMs(pid))
}

function listChildren(pid: number): number[] {
  return readOrEmpty(() =>
    readdirSync(`/proc/${pid}/task`)
      .map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'))
      .join(' ')
      .split(' ')
      .filter((child) => child !== '')
      .map(Number),
  )
}

/** Fields 14 to 17 of /proc/PID/stat: utime, stime, cutime and cstime; the name, field 2, may hold spaces. */
function readProcessMs(pid: number): number {
  const [ticks = 0] = readOrEmpty(() => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return [fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)]
  })
  return ticks * MS_PER_TICK
}

/** A process may end while it is read. */
function readOrEmpty<T>(read: () => T[]): T[] {
  try {
    return read()
  } catch {
    return []
  }
}
