/** Puts the examples into the document, and its calls into the order of a session. */

/** What a call is sent with; bodies by what they show. */
export interface Example {
  path?: Record<string, string>
  query?: Record<string, string>
  headers?: Record<string, string>
  bodies?: Record<string, unknown>
}

interface Parameter {
  in: string
  name: string
  example?: string
}

export interface Operation {
  responses?: Record<string, { content?: Record<string, { schema?: object }> }>
  tags?: string[]
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Record<string, { examples?: Record<string, object> }> }
}

export type Paths = Record<string, Record<string, Operation>>

const METHODS = ['post', 'put', 'get', 'delete']

/** Changes the operations; gives the paths in order: by the tags' order, and in each as they were registered. */
export function withExamples(paths: Paths, tags: string[], examples: Record<string, Example>): Paths {
  const ordered: [string, Record<string, Operation>][] = Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).toSorted(([a], [b]) => METHODS.indexOf(a) - METHODS.indexOf(b))),
  ])
  for (const [path, methods] of ordered)
    for (const [method, operation] of Object.entries(methods))
      illustrate(operation, examples[`${method.toUpperCase()} ${path}`] ?? {})
  const rank = (methods: Record<string, Operation>) => tags.indexOf(Object.values(methods)[0]?.tags?.[0] ?? '')
  return Object.fromEntries(ordered.toSorted(([, a], [, b]) => rank(a) - rank(b)))
}

function illustrate({ parameters = [], requestBody }: Operation, { path, query, headers, bodies }: Example): void {
  for (const parameter of parameters) {
    const values = { path, query, header: headers }[parameter.in]
    const value = values?.[parameter.name]
    if (value !== undefined) parameter.example = value
  }
  const json = requestBody?.content['application/json']
  if (json && bodies) {
    json.examples = Object.fromEntries(
      Object.entries(bodies).map(([summary, value]) => [slug(summary), { summary, value }]),
    )
  }
}

function slug(text: string): string {
  return text.toLowerCase().replace(/\W+/g, '_')
}
