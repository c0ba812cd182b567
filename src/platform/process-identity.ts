/** Identifies a process within the fleet. */
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
