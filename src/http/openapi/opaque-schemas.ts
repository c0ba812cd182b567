/** Shows schemas that are marked `x-opaque` without their fields: clients store such a document and send it back unchanged. */

type Schemas = Record<string, Record<string, unknown>>

/** Keeps the description and the version of each marked component. */
export function hideOpaqueFields<T extends object>(document: T): T {
  const { components } = document as { components?: { schemas?: Schemas } }
  const schemas = Object.entries(components?.schemas ?? {}).map(([name, schema]) => {
    if (schema['x-opaque'] !== true) return [name, schema]
    const { version } = schema.properties as Record<string, unknown>
    const shown = { type: 'object', description: schema.description, properties: { version }, required: ['version'] }
    return [name, { ...shown, additionalProperties: true }]
  })
  return { ...document, components: { ...components, schemas: Object.fromEntries(schemas) } }
}
