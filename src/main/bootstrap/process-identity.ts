/** What tells a process from all others, also from later ones with its number and from those of other containers. */
import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'

/** Where there is no /proc only `pid` is known, and the rest is empty. */
export interface ProcessIdentity {
  pid: number
  /** When it began, in ticks since the boot. */
  started: string
  /** The boot and the pid namespace in which `pid` means it. */
  world: string
}

export function getProcessIdentity(pid: number): ProcessIdentity {
  const boot = orEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const namespace = orEmpty(() => readlinkSync('/proc/self/ns/pid'))
  return { pid, started: readStartTicks(pid), world: `${boot} ${namespace}` }
}

/** The words it was started with; undefined where neither /proc nor ps tells. */
export function getCommandLine(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    const ask = ['-ww', '-o', 'command=', '-p', String(pid)]
    const told = orEmpty(() => execFileSync('ps', ask, { timeout: 5_000, stdio: 'pipe' }).toString().trim())
    return told === '' ? undefined : told.split(/\s+/)
  }
}

/** Field 22 of its stat: the second, its name in brackets, may hold anything. */
function readStartTicks(pid: number): string {
  const stat = orEmpty(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

function orEmpty(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
