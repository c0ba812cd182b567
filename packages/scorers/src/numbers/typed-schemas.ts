/** Schemas for numbers in the typed JSON of `src/engine/python/typed_json.py`. */
import { z } from 'zod'
import { parseFloat64 } from '../python/numbers.ts'

const TaggedFloat = z.strictObject({ $float: z.string() }).transform((value) => parseFloat64(value.$float))
const TaggedInteger = z.strictObject({ $int: z.string() }).transform((value) => parseHexInteger(value.$int))

/** A float or an int, as the nearest double. */
export const TypedFloat = z.union([z.number(), TaggedFloat, TaggedInteger.transform(Number)])

/** An int of any size. */
export const TypedInteger = z.union([z.int().transform(BigInt), TaggedInteger])

/** A tuple of two. */
export function typedPair<Part extends z.ZodType>(part: Part) {
  return z.strictObject({ $tuple: z.tuple([part, part]) }).transform((value) => value.$tuple)
}

function parseHexInteger(text: string): bigint {
  return text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text)
}
