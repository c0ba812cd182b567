/**
 * Makes components of the objects inside components, so that generators need not make up names: `progress` of `Run` becomes
 * `RunProgress`, and an object of its list `leases` becomes `RunLease`. An id in the contract wins over these names.
 */

const REFERENCE_PREFIX = '#/components/schemas/'

type Schema = Record<string, unknown>
type Schemas = Record<string, Schema>

export function nameInlineObjects(schemas: Schemas): Schemas {
  const named: Schemas = {}
  const nameOf = new Map<string, string>()
  const conflicts: string[] = []
  const register = (schema: Schema, name: string): Schema => {
    const { description, ...shape } = schema
    const text = JSON.stringify(shape)
    const known = nameOf.get(text)
    if (known === undefined) {
      if (name in named || name in schemas) conflicts.push(name)
      nameOf.set(text, name)
      named[name] = schema
    }
    return { $ref: REFERENCE_PREFIX + (known ?? name), ...(description !== undefined && { description }) }
  }
  const visit = (schema: unknown, name: string, isRoot = false): unknown => {
    if (!isObject(schema)) return schema
    const done = visitChildren(schema, name, visit)
    return isObjectSchema(done) && !isRoot ? register(done, name) : done
  }
  const roots = Object.entries(schemas).map(([name, schema]) => [name, visit(schema, name, true) as Schema] as const)
  if (conflicts.length > 0)
    throw new Error(`Each of these names is that of two schemas, of which one needs an id: ${conflicts.join(', ')}`)
  return Object.fromEntries([...roots, ...Object.entries(named)].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function visitChildren(schema: Schema, name: string, visit: (schema: unknown, name: string) => unknown): Schema {
  const done: Schema = { ...schema }
  if (isObject(schema.properties))
    done.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([key, inner]) => [key, visit(inner, name + toPascalCase(key))]),
    )
  for (const key of ['items', 'additionalProperties'])
    if (isObject(schema[key])) done[key] = visit(schema[key], toSingular(name))
  for (const key of ['anyOf', 'oneOf', 'allOf'])
    if (Array.isArray(schema[key])) done[key] = schema[key].map((member: unknown) => visit(member, name))
  return done
}

function isObjectSchema({ type, properties }: Schema): boolean {
  return type === 'object' && isObject(properties) && Object.keys(properties).length > 0
}

export function toPascalCase(name: string): string {
  const words = name.split(/[^a-zA-Z0-9]/)
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

function toSingular(name: string): string {
  return name.replace(/ies$/, 'y').replace(/(?<![su])s$/, '')
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
