/** A boolean in a query string, which the API document declares as a boolean. */
import { z } from 'zod'

/** Accepts `true`, `1`, `yes`, `on` and their opposites. */
export function queryBoolean() {
  return z.stringbool().meta({ type: 'boolean' })
}
