/** Who makes a call: what its key allows. Without keys everyone is the admin of loopback. */
import { z } from 'zod'

/** What a key is for; docs/access.md says which calls each role may make. */
export const Role = z.enum(['reader', 'trainer', 'evaluator', 'admin'])
export type Role = z.infer<typeof Role>

export interface Caller {
  /** Tells callers apart in limits and logs, without telling the key. */
  id: string
  /** null: without a key, on a server that has keys. */
  role: Role | null
  /** The runs that the key is bound to; null: all runs. */
  runs: ReadonlySet<string> | null
}

export function mayUse({ runs }: Caller, run: string): boolean {
  return runs === null || runs.has(run)
}
