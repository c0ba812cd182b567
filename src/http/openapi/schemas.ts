/** JSON Schemas for the API document, made from zod schemas. A schema that names itself with `.meta({ id })` becomes a component. */
import { z } from 'zod'

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
    for (const [name, one] of Object.entries($defs)) definitions.set(name, tidySchema(one, definitions))
    const root = tidySchema(items, definitions)
    this.#add(root, definitions, io)
    return root
  }

  get(reference: string | undefined): JsonSchema | undefined {
    return reference === undefined ? undefined : this.#components.get(reference.slice(REFERENCE_PREFIX.length))
  }

  list(): Record<string, JsonSchema> {
    const isSent = (name: string) => this.#sent.has(name)
    return Object.fromEntries(
      [...this.#components]
        .map(([name, schema]) => [name, isSent(name) ? schema : omitClosedness(schema)] as const)
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

/** Later versions of the server may send more fields. */
function omitClosedness({ additionalProperties, ...open }: JsonSchema): JsonSchema {
  return additionalProperties === false ? open : { ...open, additionalProperties }
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

const REFERENCE_PREFIX = '#/components/schemas/'

/** The limits that zod adds to every integer. */
const SAFE_INTEGER_LIMITS: Record<string, number> = {
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
}

/**
 * Takes from a JSON Schema what says nothing, and writes the rest in the form that generators of clients understand best.
 * Hand-written schemas inside that have an `id` are added to the definitions.
 */
function tidySchema(schema: unknown, definitions: Map<string, JsonSchema>): JsonSchema {
  return simplify(schema) as JsonSchema // fewer keywords, of the same meaning

  function simplify(value: unknown): unknown {
    if (typeof value === 'string') return value.replace('#/$defs/', REFERENCE_PREFIX)
    if (Array.isArray(value)) return value.map(simplify)
    if (!isObject(value)) return value
    const { id, ...rest } = value
    if (typeof id === 'string' && rest.type === 'object') {
      definitions.set(id, tidySchema(rest, definitions))
      return { $ref: REFERENCE_PREFIX + id }
    }
    if (value['x-opaque'] === true) return simplify(describeOpaque(value))
    const kept = Object.entries(value).filter(([key, inner]) => !isNoise(key, inner, value))
    return mergeNull(flattenTuple(Object.fromEntries(kept.map(([key, inner]) => [key, simplify(inner)]))))
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
