/**
 * Makes components of the objects inside components, so that generators need not make up names: `progress` of `Run` becomes
 * `RunProgress`, and an object of its list `leases` becomes `RunLease`. The contract can override these names with an ID.
 */

const ENTRY = 'Entry'
const REFERENCE_PREFIX = '#/components/schemas/'

type Schema = Record<string, unknown>
type Schemas = Record<string, Schema>

export function nameInlineObjects(schemas: Schemas): Schemas {
  const named: Schemas = {}
  const nameOf = new Map<string, string>()
  const conflicts: string[] = []
  const register = (schema: Schema, name: string, outer: unknown): Schema => {
    const { description, ...shape } = schema
    const text = JSON.stringify(shape)
    const known = nameOf.get(text)
    if (known === undefined) {
      if (name in named || name in schemas) conflicts.push(name)
      nameOf.set(text, name)
      named[name] = description === undefined && outer !== undefined ? { ...schema, description: outer } : schema
    }
    return { $ref: REFERENCE_PREFIX + (known ?? name), ...(description !== undefined && { description }) }
  }
  const visit: Visit = (schema, name, isMember, outer) => {
    if (!isObject(schema)) return schema
    const done = visitChildren(schema, name, visit)
    if (isObjectSchema(done)) return register(done, name, outer)
    return isMember && isNameless(done) ? register(done, name in schemas ? `${name}Map` : name, outer) : done
  }
  // Short names first: an object of `Run` that `RestoredRun` has too is named after `Run`.
  const roots = Object.entries(schemas)
    .toSorted(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
    .map(([name, schema]) => [name, visitChildren(schema, name, visit)] as const)
  if (conflicts.length > 0)
    throw new Error(`Each of these names is that of two schemas, of which one needs an id: ${conflicts.join(', ')}`)
  return Object.fromEntries([...roots, ...Object.entries(named)].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** `outer` is the description of what the schema is a part of: that of a union or list stands for its members. */
type Visit = (schema: unknown, name: string, isMember: boolean, outer?: unknown) => unknown

function visitChildren(schema: Schema, name: string, visit: Visit): Schema {
  const done: Schema = { ...schema }
  if (isObject(schema.properties))
    done.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([key, inner]) => [key, visit(inner, name + toPascalCase(key), false)]),
    )
  for (const key of ['items', 'additionalProperties'])
    if (isObject(schema[key]))
      done[key] = visit(schema[key], toSingular(name), Array.isArray(schema.type), schema.description)
  for (const key of ['anyOf', 'oneOf', 'allOf'])
    if (Array.isArray(schema[key]))
      done[key] = schema[key].map((member: unknown) => visit(member, name, true, schema.description))
  return done
}

function isObjectSchema({ type, properties }: Schema): boolean {
  return type === 'object' && isObject(properties) && Object.keys(properties).length > 0
}

/** As members of a union, enums and maps are types that generators would call `Type0`. */
function isNameless({ type, enum: values }: Schema): boolean {
  return type === 'object' || (Array.isArray(values) && values.length > 1)
}

export function toPascalCase(name: string): string {
  const words = name.split(/[^a-zA-Z0-9]/)
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** The name of an element: of `RunTasks` it is `RunTask`; where there is no plural, `RunSkippedEntry`. */
function toSingular(name: string): string {
  const singular = name.replace(/ies$/, 'y').replace(/(?<![su])s$/, '')
  return singular === name && !name.endsWith(ENTRY) ? name + ENTRY : singular
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
