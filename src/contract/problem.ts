/** The problem document: the body of every failed call (RFC 9457). */
import { z } from 'zod'
import { ERROR_CODES, type ErrorCode } from './errors.ts'

export const Problem = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int().min(400).max(599),
    code: z.enum(ERROR_CODES),
    detail: z.string(),
    errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem', description: 'Why a call failed; `code` is stable' })

/** Names that only the server gives. One that it cannot have given is unknown, like one that was deleted: with this code. */
export const NOT_FOUND_CODES = z.registry<{ code: ErrorCode }>()
