/** The caller of a request and what its key allows. On a server without keys, every caller on loopback is an admin. */
import { z } from 'zod'
import { NullableText } from './common.ts'

/** The API document lists the roles of each call. */
export const ApiKeyRole = z
  .enum(['reader', 'trainer', 'evaluator', 'admin'])
  .meta({ id: 'ApiKeyRole', description: 'Role of an API key, which decides the calls it may make.' })
export type ApiKeyRole = z.infer<typeof ApiKeyRole>

export interface Caller {
  /** Identifies the caller in limits and logs without revealing the key. */
  id: string
  /** null for a call without a key on a server that has keys. */
  role: ApiKeyRole | null
  /** Runs that the key is bound to; null for all runs. */
  runs: ReadonlySet<string> | null
  /** The last characters of the key, for its owner to recognize it. Absent without a key. */
  keyHint?: string
}

export const CallerInfo = z
  .strictObject({
    role: ApiKeyRole,
    runs: z.array(z.string()).nullable().describe('Runs that the key is bound to; null for all runs.'),
    key: NullableText.describe(
      'Last characters of the key, at most 4, to recognize it; null if the server has no keys.',
    ),
  })
  .meta({ id: 'CallerInfo', description: 'What the caller’s API key allows.' })
export type CallerInfo = z.infer<typeof CallerInfo>

export function canAccessRun({ runs }: Caller, run: string): boolean {
  return runs === null || runs.has(run)
}
