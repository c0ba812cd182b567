/** Puts the examples into the document, and its calls into the order of a session. */

/** What a call is sent with; bodies by what they show. */
export interface OperationExample {
  path?: Record<string, string>
  query?: Record<string, string>
  headers?: Record<string, string>
  bodies?: Record<string, unknown>
}

export interface OpenApiParameter {
  in: string
  name: string
  description?: string
  schema?: { $ref?: string; type?: unknown }
  example?: string | number | boolean
}

interface OpenApiResponse {
  $ref?: string
  description?: string
  content?: Record<string, { schema?: { $ref?: string }; example?: unknown }>
}

export interface OpenApiOperation {
  operationId?: string
  summary?: string
  security?: object[]
  responses?: Record<string, OpenApiResponse>
  tags?: string[]
  parameters?: OpenApiParameter[]
  requestBody?: { required?: boolean; content: Record<string, { examples?: Record<string, object> }> }
}

export type OpenApiPaths = Record<string, Record<string, OpenApiOperation>>

const METHOD_ORDER = ['post', 'put', 'get', 'delete']

/** Changes the operations; gives the paths in order: by the tags' order, and in each as they were registered. */
export function applyExamplesInTagOrder(
  paths: OpenApiPaths,
  tags: string[],
  examples: Record<string, OperationExample>,
): OpenApiPaths {
  const ordered: [string, Record<string, OpenApiOperation>][] = Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).toSorted(([a], [b]) => METHOD_ORDER.indexOf(a) - METHOD_ORDER.indexOf(b)),
    ),
  ])
  for (const [path, methods] of ordered)
    for (const [method, operation] of Object.entries(methods))
      addOperationExamples(operation, examples[`${method.toUpperCase()} ${path}`] ?? {})
  const rank = (methods: Record<string, OpenApiOperation>) => tags.indexOf(Object.values(methods)[0]?.tags?.[0] ?? '')
  return Object.fromEntries(ordered.toSorted(([, a], [, b]) => rank(a) - rank(b)))
}

function addOperationExamples(
  { parameters = [], requestBody }: OpenApiOperation,
  { path, query, headers, bodies }: OperationExample,
): void {
  for (const parameter of parameters) {
    const values = { path, query, header: headers }[parameter.in]
    const value = values?.[parameter.name]
    if (value === undefined) continue
    const { type } = parameter.schema ?? {}
    const isText = type !== 'integer' && type !== 'number' && type !== 'boolean'
    parameter.example = isText ? value : (JSON.parse(value) as number | boolean)
  }
  const json = requestBody?.content['application/json']
  if (json && bodies) {
    json.examples = Object.fromEntries(
      Object.entries(bodies).map(([summary, value]) => [slugify(summary), { summary, value }]),
    )
  }
}

function slugify(text: string): string {
  return text.toLowerCase().replace(/\W+/g, '_')
}
