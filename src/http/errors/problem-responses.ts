/** Response schemas for the error codes that a route documents. */
import type { z } from 'zod'
import type { ErrorCode } from '../../contract/errors.ts'
import { Problem } from '../../contract/problem.ts'
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
