/**
 * Serializes responses through the schemas that document them. The schemas are strict: a response with an unknown field
 * becomes a 500 with a log line, and the field is not sent.
 */
import { z } from 'zod'

const MAX_LOGGED_ISSUES = 5

interface SerializedRoute {
  schema: z.ZodType
  method: string
  url: string
  httpStatus?: string
}

export function compileSerializer({ schema, method, url, httpStatus }: SerializedRoute): (value: unknown) => string {
  return (value) => {
    const parsed = schema.safeParse(value)
    if (parsed.success) return JSON.stringify(parsed.data)
    const issues = parsed.error.issues.slice(0, MAX_LOGGED_ISSUES)
    throw new TypeError(
      `The response ${httpStatus ?? ''} of ${method} ${url} does not match its schema: ${z.prettifyError({ issues })}`,
    )
  }
}

/**
 * For the routes where parsing the response would cost as much as the work itself: POST /score, POST /rollouts and batches.
 * test/routes/hot-responses.test.ts parses their responses instead.
 */
export const uncheckedSerializer = () => (value: unknown) => JSON.stringify(value)
