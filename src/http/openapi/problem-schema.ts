/** One schema for all problem documents: repeated at every answer it would be more than half of the document. */
import type { OpenApiOperation } from './examples.ts'

const PROBLEM_CONTENT_TYPE = 'application/problem+json'
const PROBLEM_REF = { $ref: '#/components/schemas/Problem' }

/** Puts a reference wherever a problem stands; gives the schema that is referred to. What codes there are, the answers say. */
export function extractProblemSchema(paths: Record<string, Record<string, OpenApiOperation>>): object {
  let shared: object = {}
  for (const { responses } of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    for (const { content } of Object.values(responses ?? {})) {
      const problem = content?.[PROBLEM_CONTENT_TYPE]
      if (!problem?.schema) continue
      shared = { ...problem.schema, description: 'Why a call failed; `code` is stable' }
      problem.schema = PROBLEM_REF
    }
  }
  return shared
}
