/** Takes from JSON Schemas what says nothing, and writes the rest in the form that generators of clients understand best. */

export interface JsonSchema {
  [keyword: string]: unknown
  $ref?: string
  type?: string | string[]
  description?: string
  examples?: unknown[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  oneOf?: JsonSchema[]
  anyOf?: JsonSchema[]
}

export const REFERENCE_PREFIX = '#/components/schemas/'

/** The limits that zod adds to every integer. */
const SAFE_INTEGER_LIMITS: Record<string, number> = {
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
}

/** Hand-written schemas inside that have an `id` are added to the definitions. */
export function tidySchema(schema: unknown, definitions: Map<string, JsonSchema>, isNamed = false): JsonSchema {
  const whole = simplify(schema)
  return (isNamed ? whole : listConstants(whole as JsonSchema)) as JsonSchema // fewer keywords, of the same meaning

  function simplify(value: unknown): unknown {
    if (typeof value === 'string') return value.replace('#/$defs/', REFERENCE_PREFIX)
    if (Array.isArray(value)) return value.map(simplifyInner)
    if (!isObject(value)) return value
    const { id, ...rest } = value
    if (typeof id === 'string' && rest.type === 'object') {
      definitions.set(id, tidySchema(rest, definitions))
      return { $ref: REFERENCE_PREFIX + id }
    }
    if (value['x-opaque'] === true) return simplify(describeOpaque(value))
    const kept = Object.entries(value).filter(([key, inner]) => !isNoise(key, inner, value))
    return mergeNull(flattenTuple(Object.fromEntries(kept.map(([key, inner]) => [key, simplifyInner(inner)]))))
  }

  function simplifyInner(value: unknown): unknown {
    const simple = simplify(value)
    return isObject(simple) ? listConstants(simple) : simple
  }
}

function isNoise(key: string, value: unknown, { type, $ref }: JsonSchema): boolean {
  if (key === 'examples') return $ref !== undefined // of the component, inherited
  if (key in SAFE_INTEGER_LIMITS) return type === 'integer' && value === SAFE_INTEGER_LIMITS[key]
  return key === 'propertyNames' && type === 'object' && JSON.stringify(value) === '{"type":"string"}'
}

/** Only the version of a document that clients store and send back unchanged. */
function describeOpaque({ description, properties }: JsonSchema): JsonSchema {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties: { version: properties?.version ?? {} },
    required: ['version'],
    additionalProperties: true,
  }
}

/** An enum without a name is a choice of constants: generators would make up the name of a class. */
function listConstants(schema: JsonSchema): JsonSchema {
  const { enum: values, type: _, ...rest } = schema
  return Array.isArray(values) ? { ...rest, anyOf: values.map((value: unknown) => ({ const: value })) } : schema
}

/** `anyOf` of a scalar or array and null is one type with null; of a union and null, one union. */
function mergeNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...outer } = schema
  const [inner, none, ...others] = anyOf ?? []
  if (!inner || none?.type !== 'null' || others.length > 0) return schema
  if (inner.anyOf && Object.keys(inner).length === 1) return { ...outer, anyOf: [...inner.anyOf, none] }
  const isPlain = typeof inner.type === 'string' && inner.type !== 'object' && !('enum' in inner) && !('const' in inner)
  return isPlain ? { ...inner, ...outer, type: [String(inner.type), 'null'] } : schema
}

/** A tuple of scalars of one type is an array of that type: most generators do not know tuples. */
function flattenTuple(schema: JsonSchema): JsonSchema {
  const { prefixItems, items: _, ...rest } = schema
  if (!Array.isArray(prefixItems)) return schema
  const [type, ...others] = new Set((prefixItems as JsonSchema[]).map((member) => member.type))
  return type === undefined || others.length > 0 ? schema : { ...rest, items: { type } }
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
