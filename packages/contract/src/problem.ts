/** The problem document (RFC 9457): the body of every failed call. */
import { z } from 'zod'
import { ERROR_CODES, type ErrorCode, type MissingResource, RESOURCE_KINDS } from './errors.ts'

export const Problem = z
  .strictObject({
    type: z.string().describe('URN of the error code: `urn:reasoning-gym-server:CODE`.'),
    title: z.string().describe('Meaning of the error code, in one sentence.'),
    status: z.int().min(400).max(599).describe('HTTP status.'),
    code: z.enum(ERROR_CODES).meta({ id: 'ErrorCode', description: 'Stable error code.' }),
    detail: z.string().describe('What happened in this call, and what to do about it.'),
    errors: z
      .array(
        z
          .strictObject({
            path: z.string().describe('Path of the field, such as `body.step`.'),
            message: z.string().describe('What is wrong with the field.'),
          })
          .describe('An invalid field of the request.'),
      )
      .optional()
      .describe('Invalid fields of the request, if there are any.'),
    kind: z.enum(RESOURCE_KINDS).optional().describe('What the request names that does not exist, after such a 404.'),
    name: z
      .string()
      .optional()
      .describe('Its name or ID as the request gave it; the step of a batch. Set with `kind`.'),
  })
  .meta({ id: 'Problem', description: 'Why a call failed (RFC 9457). The `code` is stable.' })

/** Schemas of IDs that only the server assigns. An ID that it cannot have assigned gets this 404 code, like a deleted one. */
export const NOT_FOUND_CODES = z.registry<{ code: ErrorCode; kind: MissingResource['kind'] }>()
