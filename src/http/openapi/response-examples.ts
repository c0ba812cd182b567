/** Puts recorded answers of the server into the document, as examples of its success responses. */
import type { OpenApiPaths } from './examples.ts'

export interface ResponseExample {
  status: number
  body: unknown
}

/** By operationId. */
export type ResponseExamples = Record<string, ResponseExample>

/** Changes the operations. An operation without an example of its own gets that of another one with the same response. */
export function addResponseExamples(paths: OpenApiPaths, examples: ResponseExamples): void {
  const responses = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId = '', responses = {} }) =>
      Object.entries(responses).flatMap(([status, response]) => {
        const content = response.content?.['application/json']
        if (!content || !status.startsWith('2')) return []
        const example = examples[operationId]
        const own = example?.status === Number(status) ? example : undefined
        return [{ content, text: JSON.stringify(response), own }]
      }),
    )
  const firstExamples = new Map(
    responses.toReversed().flatMap(({ text, own }) => (own === undefined ? [] : [[text, own] as const])),
  )
  for (const { content, text, own } of responses) {
    const example = own ?? firstExamples.get(text)
    if (example !== undefined) content.example = example.body
  }
}
