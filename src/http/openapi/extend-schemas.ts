/**
 * Writes a response schema that has every field of another as an extension of it: `RestoredRun` is `allOf` of `Run` and of
 * its own fields. Requests stay whole, because the server rejects fields that a request does not have.
 */

const REFERENCE_PREFIX = '#/components/schemas/'
/** Fewer common fields are a coincidence, and not worth an indirection. */
const MIN_FIELDS = 5

interface Schema {
  $ref?: string
  type?: unknown
  description?: string
  properties?: Record<string, unknown>
  required?: string[]
  additionalProperties?: unknown
}
type Schemas = Record<string, Schema>

/** `requests`: the parts of the document that only clients send. */
export function extendSchemas(schemas: Schemas, requests: unknown): Schemas {
  const sent = listReachableNames(requests, schemas)
  const candidates = Object.entries(schemas).filter(([name, { properties }]) => properties && !sent.has(name))
  const baseOf = new Map(
    candidates.flatMap(([name, schema]) => {
      const bases = candidates.filter(([, base]) => isBase(base, schema))
      const largest = bases.toSorted(([, a], [, b]) => countFields(b) - countFields(a))[0]
      return largest ? [[name, largest[0]] as const] : []
    }),
  )
  const bases = new Set(baseOf.values())
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const base = baseOf.get(name)
      if (base !== undefined) return [name, extend(base, schemas[base] ?? {}, schema)]
      return [name, bases.has(name) ? omitClosedness(schema) : schema]
    }),
  )
}

function isBase(base: Schema, schema: Schema): boolean {
  if (countFields(base) < MIN_FIELDS || countFields(base) >= countFields(schema)) return false
  return Object.entries(base.properties ?? {}).every(
    ([key, field]) =>
      JSON.stringify(field) === JSON.stringify(schema.properties?.[key]) &&
      base.required?.includes(key) === schema.required?.includes(key),
  )
}

function extend(name: string, base: Schema, { description, properties = {}, required = [] }: Schema): object {
  const isOwn = (key: string) => !(key in (base.properties ?? {}))
  const ownRequired = required.filter(isOwn)
  const own = {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).filter(([key]) => isOwn(key))),
    ...(ownRequired.length > 0 && { required: ownRequired }),
  }
  return { allOf: [{ $ref: REFERENCE_PREFIX + name }, own], description }
}

/** With `additionalProperties: false`, a base would forbid the fields of its extensions. */
function omitClosedness(schema: Schema): Schema {
  const { additionalProperties, ...open } = schema
  return additionalProperties === false ? open : schema
}

function countFields({ properties = {} }: Schema): number {
  return Object.keys(properties).length
}

function listReachableNames(value: unknown, schemas: Schemas, found = new Set<string>()): Set<string> {
  JSON.stringify(value, (key, inner: unknown) => {
    if (key !== '$ref' || typeof inner !== 'string') return inner
    const name = inner.slice(REFERENCE_PREFIX.length)
    if (!found.has(name)) listReachableNames(schemas[name], schemas, found.add(name))
    return inner
  })
  return found
}
