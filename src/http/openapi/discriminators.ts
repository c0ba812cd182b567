/** Adds the `discriminator` of a union whose members are components with a tag of their own, such as `status` of verdicts. */

type Schema = Record<string, unknown>
type Schemas = Record<string, Schema>

const REFERENCE_PREFIX = '#/components/schemas/'

export function addDiscriminators<T>(value: T, schemas: Schemas): T {
  return visit(value, schemas) as T // with discriminators, and otherwise equal
}

function visit(value: unknown, schemas: Schemas): unknown {
  if (Array.isArray(value)) return value.map((one) => visit(one, schemas))
  if (typeof value !== 'object' || value === null) return value
  const done = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visit(inner, schemas)]))
  const members = done.oneOf ?? done.anyOf
  const discriminator = Array.isArray(members) && findDiscriminator(members as Schema[], schemas)
  return discriminator ? { ...done, discriminator } : done
}

function findDiscriminator(members: Schema[], schemas: Schemas): object | undefined {
  const references = members.map(({ $ref }) => $ref)
  if (members.length < 2 || !references.every((one) => typeof one === 'string')) return undefined
  const tags = references.map((one) => listTags(schemas[one.slice(REFERENCE_PREFIX.length)]))
  for (const propertyName of Object.keys(tags[0] ?? {})) {
    const values = tags.map((tag) => tag[propertyName])
    if (values.includes(undefined) || new Set(values).size < values.length) continue
    return { propertyName, mapping: Object.fromEntries(values.map((value, k) => [value, references[k]])) }
  }
  return undefined
}

/** The required properties that have one value. */
function listTags(schema: Schema | undefined): Record<string, string> {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, { const?: unknown; enum?: unknown[] }>
    required?: string[]
  }
  return Object.fromEntries(
    required.flatMap((name) => {
      const value = properties[name]?.const
      return typeof value === 'string' ? [[name, value] as const] : []
    }),
  )
}
