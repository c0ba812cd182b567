/** The document that every failure is told in. */
import { z } from 'zod'
import { ERROR_DEFINITIONS, type ErrorCode } from './errors.ts'

const ERROR_CODES = Object.keys(ERROR_DEFINITIONS) as [ErrorCode, ...ErrorCode[]] // the table is not empty

export const Problem = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.int().min(400).max(599),
  code: z.enum(ERROR_CODES),
  detail: z.string(),
  errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
})

/** Names that only the server gives. One that it cannot have given is unknown, like one that is gone: here is the code. */
export const NOT_FOUND_CODES = z.registry<{ unknown: ErrorCode }>()

/** Response schemas for the failures of a route, by status, each with its codes named. */
export function problemResponses(...codes: ErrorCode[]): Record<number, z.ZodType> {
  const byStatus = Map.groupBy(codes, (code) => ERROR_DEFINITIONS[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, some]) => [status, Problem.describe(some.map((code) => `\`${code}\``).join(', '))]),
  )
}
