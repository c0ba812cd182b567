/** Who makes a call: what its key allows. Without keys everyone is the admin of loopback. */
import { z } from 'zod'

/** What a key is for; docs/operations/access.md says which calls each role may make. */
export const ApiKeyRole = z.enum(['reader', 'trainer', 'evaluator', 'admin']).meta({ id: 'ApiKeyRole' })
export type ApiKeyRole = z.infer<typeof ApiKeyRole>

export interface Caller {
  /** Tells callers apart in limits and logs, without telling the key. */
  id: string
  /** null: without a key, on a server that has keys. */
  role: ApiKeyRole | null
  /** The runs that the key is bound to; null: all runs. */
  runs: ReadonlySet<string> | null
}

export function canAccessRun({ runs }: Caller, run: string): boolean {
  return runs === null || runs.has(run)
}
