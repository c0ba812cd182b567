/** Response schemas for the error codes that a route documents. */

import type { ErrorCode } from '@reasoning-gym-server/contract/errors'
import { Problem } from '@reasoning-gym-server/contract/problem'
import type { z } from 'zod'
import { ERROR_TABLE } from './error-table.ts'

/** Schemas by status. Each description names the codes. */
export function problemResponses(...codes: ErrorCode[]): Record<number, z.ZodType> {
  const codesByStatus = Map.groupBy(codes, (code) => ERROR_TABLE[code].status)
  return Object.fromEntries(
    [...codesByStatus].map(([status, group]) => [
      status,
      Problem.describe(group.map((code) => `\`${code}\``).join(', ')),
    ]),
  )
}
