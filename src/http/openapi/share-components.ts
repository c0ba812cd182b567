/** Replaces what many operations repeat by references: error responses, parameters, and the bodies of routes that come in pairs. */

import { ERROR_CODES } from '@reasoning-gym-server/contract/errors'
import type { OpenApiOperation, OpenApiParameter, OpenApiPaths } from './examples.ts'
import { toPascalCase } from './name-inline-objects.ts'
import { COMMON_CODES, describeCodes, nameErrorResponse } from './problem-examples.ts'

type Section = Record<string, object>

export interface SharedComponents {
  parameters: Section
  requestBodies: Section
  responses: Section
}

const PLACE_SUFFIX: Record<string, string> = { path: 'Path', query: 'Query', header: 'Header' }

/** Changes the operations. */
export function shareComponents(paths: OpenApiPaths, errorResponses: Section): SharedComponents {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  for (const operation of operations) referErrorResponses(operation)
  const parameters = new Pool('parameters')
  const requestBodies = new Pool('requestBodies')
  const responses = new Pool('responses', errorResponses)
  for (const [path, methods] of Object.entries(paths)) {
    for (const operation of Object.values(methods))
      for (const one of operation.parameters ?? []) parameters.count(one, ...listParameterNames(one, path, operation))
  }
  for (const { operationId = '', requestBody, responses: answers = {} } of operations) {
    if (requestBody) requestBodies.count(requestBody, `${toPascalCase(operationId)}Body`)
    for (const [status, answer] of Object.entries(answers)) {
      const hasContent = Object.keys(answer.content ?? {}).length > 0
      if (hasContent) responses.count(answer, `${toPascalCase(operationId)}${status === '200' ? '' : status}Result`)
    }
  }
  for (const operation of operations) {
    if (operation.parameters) operation.parameters = operation.parameters.map((one) => parameters.share(one))
    if (operation.requestBody) operation.requestBody = requestBodies.share(operation.requestBody)
    for (const [status, answer] of Object.entries(operation.responses ?? {}))
      Object.assign(operation.responses ?? {}, { [status]: responses.share(answer) })
  }
  return { parameters: parameters.list(), requestBodies: requestBodies.list(), responses: responses.list() }
}

/** `RunPath`; where other parameters have this name too, `AdapterRunPath` by the tag, or `StoreRunPath` by the path. */
function listParameterNames({ name, in: place, schema }: OpenApiParameter, path: string, { tags }: OpenApiOperation) {
  const suffix = PLACE_SUFFIX[place] ?? ''
  if (name === 'id' && schema?.$ref !== undefined) return [schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1) + suffix]
  const own = toPascalCase(name) + suffix
  const before =
    path
      .slice(0, Math.max(0, path.indexOf('/{')))
      .split('/')
      .at(-1) ?? ''
  return [own, ...[...(tags ?? []), before].map((word) => toPascalCase(word).replace(/s$/, '') + own)]
}

/** What occurs more than once is kept here once. Of several values of one name, the most frequent gets it. */
class Pool {
  readonly #section: string
  readonly #found = new Map<string, { names: string[]; value: object; count: number }>()
  readonly #shared: Section
  #names: Map<string, string> | undefined

  constructor(section: string, shared: Section = {}) {
    this.#section = section
    this.#shared = { ...shared }
  }

  count(value: object, ...names: string[]): void {
    const text = JSON.stringify(value)
    const found = this.#found.get(text)
    if (found) found.count++
    else this.#found.set(text, { names, value, count: 1 })
  }

  share<T extends object>(value: T): T {
    const name = this.#chosen().get(JSON.stringify(value))
    return name === undefined ? value : ({ $ref: `#/components/${this.#section}/${name}` } as unknown as T) // a reference stands for it
  }

  list(): Section {
    this.#chosen()
    return Object.fromEntries(Object.entries(this.#shared).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  #chosen(): Map<string, string> {
    if (this.#names) return this.#names
    this.#names = new Map()
    const repeated = [...this.#found].filter(([, { count }]) => count > 1)
    for (const [text, { names, value }] of repeated.toSorted(([, a], [, b]) => b.count - a.count)) {
      const name = names.find((one) => !(one in this.#shared))
      if (name === undefined) continue
      this.#shared[name] = value
      this.#names.set(text, name)
    }
    return this.#names
  }
}

/**
 * A status is spelled out where it has a code that not every call can have; the description beside the reference then names
 * the codes of this operation. The rest are the default response: spelled out, they would be a fifth of the document.
 */
function referErrorResponses(operation: OpenApiOperation): void {
  const responses = Object.entries(operation.responses ?? {}).flatMap(([status, response]) => {
    if (!response.content?.['application/problem+json']) return [[status, response] as const]
    const codes = new Set([...(response.description ?? '').matchAll(/`(\w+)`/g)].map(([, code = '']) => code))
    const listed = ERROR_CODES.filter((code) => codes.has(code))
    if (listed.every((code) => COMMON_CODES.has(code))) return []
    const $ref = `#/components/responses/${nameErrorResponse(Number(status))}`
    return [[status, { $ref, description: describeCodes(listed) }] as const]
  })
  operation.responses = {
    ...Object.fromEntries(responses),
    default: { $ref: '#/components/responses/Error' },
  }
}
