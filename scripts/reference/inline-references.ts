/** Replaces references in JSON Schemas and API documents by what they refer to, for readers that follow none. */

/** Finds the target of a reference by its path, such as `#/$defs/RunName`; keywords beside a reference win. */
export function inlineReferences<T>(value: T, find: (path: string) => unknown): T {
  return inline(value) as T // references stand only where their target may

  function inline(one: unknown): unknown {
    if (Array.isArray(one)) return one.map(inline)
    if (typeof one !== 'object' || one === null) return one
    const { $ref, ...rest } = one as { $ref?: unknown }
    const inlined = Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, inline(inner)]))
    if (typeof $ref !== 'string') return inlined
    return { ...(inline(find($ref)) as object), ...inlined } // a component is an object
  }
}

/** The document without references: schemas, parameters and responses stand where they are used. */
export function inlineComponents<T extends { components: Record<string, Record<string, unknown>> }>(document: T): T {
  return inlineReferences(document, (path) => {
    const [section = '', name = ''] = path.split('/').slice(-2)
    return document.components[section]?.[name]
  })
}
