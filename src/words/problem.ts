/** The document that every failure is told in. */
import { z } from 'zod'
import { FAULTS, type FaultCode } from '../faults.ts'

const CODES = Object.keys(FAULTS) as [FaultCode, ...FaultCode[]] // the table is not empty

export const Problem = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.int().min(400).max(599),
  code: z.enum(CODES),
  detail: z.string(),
  errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
})

/** Names that only the server gives. One that it cannot have given is unknown, like one that is gone: here is the code. */
export const GIVEN_NAMES = z.registry<{ unknown: FaultCode }>()

/** Response schemas for the failures of a route, by status, each with its codes named. */
export function problems(...codes: FaultCode[]): Record<number, z.ZodType> {
  const byStatus = Map.groupBy(codes, (code) => FAULTS[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, some]) => [status, Problem.describe(some.map((code) => `\`${code}\``).join(', '))]),
  )
}
