/** Small schemas that many others use: counts, maps whose keys are not known in advance, query parameters and texts. */
import { z } from 'zod'

export const Count = z.int().min(0)
export const Share = z.number().min(0).max(1)
export const NullableNumber = z.number().nullable()
export const NullableText = z.string().nullable()

/** Why a generation ended. SGLang gives an object, whose `type` is the reason. */
export const FinishReason = z
  .preprocess((reason) => (isTyped(reason) ? reason.type : reason), z.string().max(64))
  .meta({ type: 'string', maxLength: 64 }) // what clients declare

function isTyped(value: unknown): value is { type: unknown } {
  return typeof value === 'object' && value !== null && 'type' in value
}

/** Maps are under one name each in the API document. */
export const JsonObject = z.looseObject({}).meta({ id: 'JsonObject', description: 'A JSON object with any fields.' })
export const CountByName = z.record(z.string(), Count).meta({ id: 'CountByName', description: 'Counts by name.' })
export const NumberByName = z
  .record(z.string(), z.number())
  .meta({ id: 'NumberByName', description: 'Numbers by name.' })
export const TextByName = z.record(z.string(), z.string()).meta({ id: 'TextByName', description: 'Texts by name.' })

/** A boolean in a query string, which the API document declares as a boolean. Accepts `true`, `1`, `yes`, `on` and their opposites. */
export function queryBoolean() {
  return z.stringbool().meta({ type: 'boolean' })
}

/** Schema of a response body that is not JSON. */
export function textResponse<Type extends string>(type: Type, description: string) {
  return { description, content: { [type]: { schema: z.string() } } } as {
    description: string
    content: Record<Type, { schema: z.ZodString }>
  } // the one key is `type`
}
