/** The header `Idempotency-Key` of routes that create something. */
import { z } from 'zod'

export const IdempotencyHeaders = z.looseObject({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe(
      'Key of your choice that makes retries safe: a repeated request with the same key and body within an hour returns the first response and changes nothing. The same key with another body is rejected with 400 `invalid_request`.',
    ),
})
