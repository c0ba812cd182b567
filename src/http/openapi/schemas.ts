/** JSON Schemas for the API document, made from zod schemas. A schema that names itself with `.meta({ id })` becomes a component. */
import { z } from 'zod'
import { type JsonSchema, REFERENCE_PREFIX, tidySchema } from './tidy-schema.ts'

/** Fewer common fields are a coincidence, and not worth an indirection. */
const MIN_SHARED_FIELDS = 5

export class SchemaComponents {
  readonly #components = new Map<string, JsonSchema>()
  /** Names of those that requests have. They stay whole, because the server rejects fields that a request does not have. */
  readonly #sent = new Set<string>()

  /**
   * The schema of what clients send (`input`) or receive (`output`); its components are added. Fields with a default are
   * required in responses only. A component of both keeps the form of requests, which holds for both.
   */
  convert(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    // In an array, a schema that has an ID becomes a definition, too.
    const { items, $defs = {} } = z.toJSONSchema(z.array(schema), { io, unrepresentable: 'any', override: addTags })
    const definitions = new Map<string, JsonSchema>()
    for (const [name, one] of Object.entries($defs)) definitions.set(name, tidySchema(one, definitions, true))
    const root = tidySchema(items, definitions)
    this.#add(root, definitions, io)
    return root
  }

  get(reference: string | undefined): JsonSchema | undefined {
    return reference === undefined ? undefined : this.#components.get(reference.slice(REFERENCE_PREFIX.length))
  }

  list(): Record<string, JsonSchema> {
    const received = [...this.#components].filter(([name, { properties }]) => properties && !this.#sent.has(name))
    const extensions = received.flatMap(([name, schema]) => {
      const bases = received.filter(([, base]) => isBase(base, schema))
      const largest = bases.toSorted(([, a], [, b]) => countFields(b) - countFields(a))[0]
      return largest ? [[name, largest] as const] : []
    })
    const extended = new Map(extensions.map(([name, [base, schema]]) => [name, { base, schema }]))
    const bases = new Set([...extended.values()].map(({ base }) => base))
    return Object.fromEntries(
      [...this.#components]
        .map(([name, schema]) => {
          const of = extended.get(name)
          if (of) return [name, extend(of.base, of.schema, schema)] as const
          return [name, bases.has(name) ? omitClosedness(schema) : schema] as const
        })
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    )
  }

  #add(schema: unknown, definitions: Map<string, JsonSchema>, io: 'input' | 'output'): void {
    for (const name of listReferredNames(schema)) {
      const definition = definitions.get(name)
      if (!definition) continue
      definitions.delete(name)
      if (io === 'input') this.#sent.add(name)
      const known = this.#components.get(name)
      if (known && !isSameButRequired(known, definition))
        throw new Error(
          `Requests and responses have different schemas of the name ${name}: give one of them another id`,
        )
      if (io === 'input' || !known) this.#components.set(name, definition)
      this.#add(definition, definitions, io)
    }
  }
}

function listReferredNames(value: unknown): string[] {
  const names: string[] = []
  JSON.stringify(value, (key, inner: unknown) => {
    if (key === '$ref' && typeof inner === 'string') names.push(inner.slice(REFERENCE_PREFIX.length))
    return inner
  })
  return names
}

function isSameButRequired(a: JsonSchema, b: JsonSchema): boolean {
  const [one, other] = [a, b].map((schema) =>
    JSON.stringify(schema, (key, value: unknown) => (key === 'required' && Array.isArray(value) ? undefined : value)),
  )
  return one === other
}

/** Whether a response schema has every field of another: it is written as `allOf` of that one and of its own fields. */
function isBase(base: JsonSchema, schema: JsonSchema): boolean {
  if (countFields(base) < MIN_SHARED_FIELDS || countFields(base) >= countFields(schema)) return false
  return Object.entries(base.properties ?? {}).every(
    ([key, field]) =>
      JSON.stringify(field) === JSON.stringify(schema.properties?.[key]) &&
      base.required?.includes(key) === schema.required?.includes(key),
  )
}

function extend(
  name: string,
  base: JsonSchema,
  { description, properties = {}, required = [] }: JsonSchema,
): JsonSchema {
  const isOwn = (key: string) => !(key in (base.properties ?? {}))
  const own = {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).filter(([key]) => isOwn(key))),
    required: required.filter(isOwn),
  }
  return { allOf: [{ $ref: REFERENCE_PREFIX + name }, own], description: description ?? '' }
}

/** With `additionalProperties: false`, a base would forbid the fields of its extensions. */
function omitClosedness({ additionalProperties, ...open }: JsonSchema): JsonSchema {
  return additionalProperties === false ? open : { ...open, additionalProperties }
}

function countFields({ properties = {} }: JsonSchema): number {
  return Object.keys(properties).length
}

/** Says which field tells the members of a union apart, for unions of components. */
function addTags({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: z.core.JSONSchema.BaseSchema }) {
  if (!(zodSchema instanceof z.ZodDiscriminatedUnion)) return
  const { discriminator: propertyName } = zodSchema.def
  const mapping = (zodSchema.options as z.ZodObject[]).flatMap((option) => {
    const id = z.globalRegistry.get(option)?.id
    const tag = option.shape[propertyName]
    return id !== undefined && tag instanceof z.ZodLiteral ? [[String(tag.value), `#/$defs/${id}`] as const] : []
  })
  if (mapping.length === zodSchema.options.length)
    jsonSchema.discriminator = { propertyName, mapping: Object.fromEntries(mapping) }
}
