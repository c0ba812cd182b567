/** Takes from the schemas of the document what says nothing: it is a tenth of their size, and generators choke on some of it. */

/** The limits that zod adds to every integer. */
const SAFE_INTEGER_LIMITS: Record<string, number> = {
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
}

type Schema = Record<string, unknown>

export function simplifySchemas<T>(value: T): T {
  return simplify(value) as T // with fewer keywords, of the same meaning
}

function simplify(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplify)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([key, inner]) => !isNoise(key, inner, value))
  return mergeNull(flattenTuple(Object.fromEntries(kept.map(([key, inner]) => [key, simplify(inner)]))))
}

function isNoise(key: string, value: unknown, { type }: Schema): boolean {
  if (key in SAFE_INTEGER_LIMITS) return type === 'integer' && value === SAFE_INTEGER_LIMITS[key]
  return key === 'propertyNames' && type === 'object' && JSON.stringify(value) === '{"type":"string"}'
}

/** `anyOf` of a scalar or array and null is one type with null; of a union and null, one union. */
function mergeNull(schema: Schema): Schema {
  const { anyOf, ...outer } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema
  const [inner, none] = anyOf as [Schema, Schema] // members of a union are schemas
  if (!isObject(none) || none.type !== 'null') return schema
  if (Array.isArray(inner.anyOf) && Object.keys(inner).length === 1)
    return { ...outer, anyOf: [...(inner.anyOf as unknown[]), none] }
  const isPlain = typeof inner.type === 'string' && inner.type !== 'object' && !('enum' in inner) && !('const' in inner)
  return isPlain ? { ...inner, ...outer, type: [inner.type, 'null'] } : schema
}

/** A tuple of scalars of one type is an array of that type: most generators do not know tuples. */
function flattenTuple(schema: Schema): Schema {
  const { prefixItems, items: _, ...rest } = schema
  if (!Array.isArray(prefixItems)) return schema
  const [type, ...others] = new Set((prefixItems as Schema[]).map((member) => member.type))
  return type === undefined || others.length > 0 ? schema : { ...rest, items: { type } }
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
