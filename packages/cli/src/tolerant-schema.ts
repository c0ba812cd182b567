/** Reads responses of newer servers: schemas of the contract, which also accept fields and codes that they do not know. */
import { z } from 'zod'

const TOLERANT = new WeakMap<z.core.$ZodType, z.ZodType>()

/** Accepts what the schema accepts, other fields of its objects, and other words where it lists some. */
export function makeTolerant<Schema extends z.ZodType>(schema: Schema): z.ZodType<z.output<Schema>> {
  return loosen(schema) as z.ZodType<z.output<Schema>> // the same type, but for words that only a newer server knows
}

function loosen(schema: z.core.$ZodType): z.ZodType {
  const known = TOLERANT.get(schema)
  if (known) return known
  const loose = build(schema)
  TOLERANT.set(schema, loose)
  return loose
}

function build(schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries<z.core.$ZodType>(schema.shape)
    return z.looseObject(Object.fromEntries(fields.map(([name, field]) => [name, loosen(field)])))
  }
  if (schema instanceof z.ZodArray) return z.array(loosen(schema.element))
  if (schema instanceof z.ZodTuple) {
    const [first, ...others] = schema.def.items.map(loosen)
    return first ? z.tuple([first, ...others]) : schema
  }
  if (schema instanceof z.ZodRecord) return z.record(z.string(), loosen(schema.valueType))
  if (schema instanceof z.ZodUnion) return z.union(schema.options.map(loosen))
  if (schema instanceof z.ZodNullable) return loosen(schema.unwrap()).nullable()
  if (schema instanceof z.ZodOptional) return loosen(schema.unwrap()).optional()
  if (schema instanceof z.ZodEnum) return z.string()
  return schema as z.ZodType // every schema of zod's main entry point is one
}
