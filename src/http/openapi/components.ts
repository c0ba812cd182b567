/**
 * Names the components of the OpenAPI document. fastify-type-provider-zod makes two of every schema that has an id: `Name`
 * for responses and `NameInput` for requests. The document keeps one of them, unless both are used and differ.
 */

const REFERENCE_PREFIX = '#/components/schemas/'
const INPUT_SUFFIX = 'Input'

type Schemas = Record<string, unknown>

interface Document {
  paths?: unknown
  components?: { schemas?: Schemas }
}

/**
 * Drops the components that nothing refers to, and merges input and output where they are equal but for `required`: fields
 * with a default are required in responses only. The request's form holds for both, so it is the one that stays.
 */
export function nameComponents<T extends object>(document: T): T {
  const { paths, components } = document as Document
  const schemas = components?.schemas ?? {}
  const used = listReachableNames(paths, schemas)
  const names = new Map([...used].map((name) => [name, chooseName(name, used, schemas)]))
  const kept = [...names]
    .toSorted(([a], [b]) => Number(a.endsWith(INPUT_SUFFIX)) - Number(b.endsWith(INPUT_SUFFIX))) // inputs last: they win
    .map(([name, chosen]) => [chosen, renameReferences(schemas[name], names)] as const)
  return {
    ...document,
    paths: renameReferences(paths, names),
    components: {
      ...components,
      schemas: Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    },
  }
}

function chooseName(name: string, used: Set<string>, schemas: Schemas): string {
  if (!name.endsWith(INPUT_SUFFIX)) return name
  const output = name.slice(0, -INPUT_SUFFIX.length)
  if (!(output in schemas)) return name
  return used.has(output) && !isSameSchema(name, output, schemas) ? name : output
}

/** Equal but for `required` once the references in both are followed: an input refers to inputs. */
function isSameSchema(input: string, output: string, schemas: Schemas): boolean {
  const [a, b] = [input, output].map((name) => JSON.stringify(inlineReferences(schemas[name], schemas), omitRequired))
  return a === b
}

function omitRequired(key: string, value: unknown): unknown {
  return key === 'required' && Array.isArray(value) ? undefined : value
}

function listReachableNames(value: unknown, schemas: Schemas, found = new Set<string>()): Set<string> {
  forEachReference(value, (name) => {
    if (found.has(name)) return
    found.add(name)
    listReachableNames(schemas[name], schemas, found)
  })
  return found
}

function forEachReference(value: unknown, visit: (name: string) => void): void {
  JSON.stringify(value, (key, inner: unknown) => {
    if (key === '$ref' && typeof inner === 'string') visit(inner.slice(REFERENCE_PREFIX.length))
    return inner
  })
}

function renameReferences(value: unknown, names: Map<string, string>): unknown {
  if (Array.isArray(value)) return value.map((one) => renameReferences(one, names))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(unwrapReference(value)).map(([key, inner]) => {
      if (key !== '$ref' || typeof inner !== 'string') return [key, renameReferences(inner, names)]
      const name = inner.slice(REFERENCE_PREFIX.length)
      return [key, REFERENCE_PREFIX + (names.get(name) ?? name)]
    }),
  )
}

/**
 * @fastify/swagger drops what stands beside a `$ref`, as OpenAPI 3.0 asked: descriptions and defaults. Wrapped in `allOf`,
 * a reference keeps them; `nameComponents` unwraps it again.
 */
export function wrapReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wrapReferences)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const { $ref, ...rest } = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, wrapReferences(inner)]),
  )
  if ($ref === undefined) return rest
  return Object.keys(rest).length === 0 ? { $ref } : { allOf: [{ $ref }], ...rest }
}

function unwrapReference(value: object): object {
  const { allOf, ...rest } = value as { allOf?: unknown }
  const [only, ...others] = Array.isArray(allOf) ? (allOf as unknown[]) : []
  const isWrapped = typeof only === 'object' && only !== null && '$ref' in only && others.length === 0
  return isWrapped ? { ...only, ...rest } : value
}

/** The value with every reference replaced by its schema, found by the last part of its path; keywords beside a reference win. */
export function inlineReferences(value: unknown, schemas: Schemas): unknown {
  return inline(value, (path) => schemas[path.slice(path.lastIndexOf('/') + 1)])
}

/** The document without references: schemas, parameters, bodies and responses stand where they are used. */
export function inlineComponents<T extends { components: Record<string, Record<string, unknown>> }>(document: T): T {
  return inline(document, (path) => {
    const [section = '', name = ''] = path.split('/').slice(-2)
    return document.components[section]?.[name]
  }) as T // references stand only where their target may
}

function inline(value: unknown, find: (path: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => inline(one, find))
  if (typeof value !== 'object' || value === null) return value
  const { $ref, ...rest } = value as { $ref?: unknown }
  const inlined = Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, inline(inner, find)]))
  if (typeof $ref !== 'string') return inlined
  return { ...(inline(find($ref), find) as object), ...inlined } // a component is an object
}
