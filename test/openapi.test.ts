import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { inlineComponents } from '../scripts/reference/page-parts.ts'
import { openWorld, type World } from './world.ts'

const DOCUMENTS = [
  ['/openapi.json', 'openapi.json'],
  ['/openapi/trainers.json', 'trainers.json'],
] as const

/** Characters of a line. */
const FILE_WIDTH = 160

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

it.each(DOCUMENTS)('what the server serves at %s is openapi/%s; a change writes it anew', async (url, name) => {
  const file = new URL(`../openapi/${name}`, import.meta.url)
  const { status, body } = await world.call('GET', url)
  expect([status, body.detail]).toEqual([200, undefined])
  const written = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
  if (JSON.stringify(written) !== JSON.stringify(body)) writeFileSync(file, `${formatJson(body, FILE_WIDTH)}\n`)
  expect(written, `openapi/${name} was out of date and is written now: look at it and commit it`).toEqual(body)
})

it('the documents hold every route once: our own, or what trainers call, without twins that only lack the run', async () => {
  const documents = await Promise.all(DOCUMENTS.map(async ([url]) => (await world.call('GET', url)).body))
  const calls = documents.flatMap(({ paths }) =>
    Object.entries<object>(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    ),
  )
  const isPage = (url: string) => /^\/($|docs|dashboard|openapi)/.test(url)
  const routes = [...world.app.accessRules.keys()].filter((route) => {
    const [method = '', url = ''] = route.split(' ')
    return !['HEAD', 'OPTIONS'].includes(method) && !isPage(url)
  })
  const twinOf = (route: string) =>
    route === 'POST /samples' ? 'POST /runs/:run/samples' : route.replace(/ (\/[\w-]+)\//, ' $1/:run/')
  const missing = routes.filter((route) => !calls.includes(route) && !calls.includes(twinOf(route)))
  expect(missing).toEqual([])
  expect(calls.filter((call) => !routes.includes(call))).toEqual([])
  expect(new Set(calls).size).toBe(calls.length)
})

it.each(DOCUMENTS)('%s is valid OpenAPI 3.1', async (url) => {
  const { body } = await world.call('GET', url)
  const validator = new Validator()
  expect(await validator.validate(structuredClone(body))).toMatchObject({ valid: true })
  expect(validator.version).toBe('3.1')
})

it('numbers of rollouts may be lists or typed data, in what is posted and in batches', async () => {
  const document = (await world.call('GET', '/openapi.json')).body
  const body = inlineComponents(document as { components: Record<string, Record<string, unknown>> }) as typeof document
  const [group] = body.paths['/rollouts'].post.requestBody.content['application/json'].schema.oneOf
  const { schema } = body.paths['/runs/{run}/batches'].post.responses['200'].content['application/json']
  for (const { items } of [group.properties.rollouts, schema.properties.groups.items.properties.rollouts]) {
    for (const name of ['tokens', 'masks', 'logprobs'])
      expect(items.properties[name].anyOf).toMatchObject([
        { type: 'array' },
        {
          type: 'object',
          properties: {
            dtype: { enum: ['int32', 'float32', 'uint8', 'int16', 'float64'] },
          },
        },
      ])
  }
})

it('the types that clients know are components', async () => {
  const { body } = await world.call('GET', '/openapi.json')
  const names = ['Batch', 'Eval', 'Group', 'Item', 'Problem', 'Recipe', 'Run', 'RunState', 'Verdict']
  expect(Object.keys(body.components.schemas)).toEqual(expect.arrayContaining(names))
})

it.each(DOCUMENTS)('each component of %s is used, and each that is used is there', async (url) => {
  const { body } = await world.call('GET', url)
  const names = Object.keys(body.components.schemas)
  const text = JSON.stringify(body)
  for (const name of names) expect(text).toContain(`"#/components/schemas/${name}"`)
  for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) expect(names).toContain(name)
})

it('every schema that the contract exports is named after itself, unless it is a scalar or a query', async () => {
  const folder = new URL('../packages/contract/src/', import.meta.url)
  const modules = await Promise.all(
    readdirSync(folder).map((file) => import(new URL(file, folder).href) as Promise<Record<string, unknown>>),
  )
  const isReusable = (schema: unknown): schema is z.ZodType =>
    schema instanceof z.ZodObject || schema instanceof z.ZodEnum || schema instanceof z.ZodUnion
  const unnamed = modules
    .flatMap(Object.entries)
    .filter(([name, schema]) => isReusable(schema) && schema.meta()?.id !== name)
    .map(([name]) => name)
  expect(unnamed.toSorted()).toEqual([
    'DatasetQuery',
    'DatasetRowsQuery',
    'ExportParams',
    'GroupFilter',
    'SampleFilter',
  ])
})

it.each(DOCUMENTS)('%s: every operation has an operationId of its own: a verb and a noun in camelCase', async (url) => {
  const { body } = await world.call('GET', url)
  const operations = Object.values<Record<string, { operationId?: string }>>(body.paths).flatMap(Object.values)
  const ids = operations.map(({ operationId }) => operationId ?? '')
  expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]+)+$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
})

it.each(DOCUMENTS)('%s: every route has a sentence, a tag, and answers that are described', async (url) => {
  const { body } = await world.call('GET', url)
  expect(body.openapi).toBe('3.1.0')
  for (const [path, methods] of Object.entries<
    Record<string, { summary?: string; tags?: string[]; responses: object }>
  >(body.paths)) {
    for (const [method, { summary, tags, responses }] of Object.entries(methods)) {
      expect([path, method, Boolean(summary), tags?.length, Object.keys(responses).length > 0]).toEqual([
        path,
        method,
        true,
        1,
        true,
      ])
    }
  }
})

const SENTENCE = /^(?:[A-Z0-9`*[({“]|null|true|false).*[.)]$/s
/** An imperative without a period, after the name of a protocol: `OpenEnv: get the state`. */
const SUMMARY = /^(?=[A-Z])(?:[\w &]+: )?[A-Za-z]+(?<!s) .*[^.]$/

it.each(DOCUMENTS)(
  '%s: every schema, field, parameter, operation and response is described in sentences',
  async (url) => {
    const { body } = await world.call('GET', url)
    const { schemas, parameters, responses } = body.components
    type Described = {
      $ref?: string
      description?: string
      properties?: Record<string, Described>
    }
    type Operation = Described & {
      operationId: string
      summary: string
      parameters?: (Described & { name: string })[]
      responses: Record<string, Described>
    }
    const operations = Object.values<Record<string, Operation>>(body.paths).flatMap((methods) => Object.values(methods))
    const listFields = ([name, { properties = {} }]: [string, Described]) =>
      Object.entries(properties).map(([key, field]): [string, Described] => [`${name}.${key}`, field])
    const described: [string, Described][] = [
      ...Object.entries<Described>({ ...schemas, ...parameters, ...responses }),
      ...Object.entries<Described>(schemas).flatMap(listFields),
      ...operations.flatMap((operation): [string, Described][] => [
        [operation.operationId, operation],
        ...(operation.parameters ?? []).map((one): [string, Described] => [
          `${operation.operationId} ${one.name}`,
          one,
        ]),
        ...Object.entries(operation.responses).map(([status, response]): [string, Described] => [
          `${operation.operationId} ${status}`,
          response,
        ]),
      ]),
    ]
    const isSentence = ({ $ref, description = '' }: Described) =>
      ($ref !== undefined && description === '') || SENTENCE.test(description)
    const wrong = described.filter(([, one]) => !isSentence(one)).map(([name]) => name)
    expect(wrong).toEqual([])
    expect(operations.map(({ summary }) => summary).filter((summary) => !SUMMARY.test(summary))).toEqual([])
  },
)

it('the document of our API is small: at most 82 calls and 310 KB', async () => {
  const { body } = await world.call('GET', '/openapi.json')
  expect(Object.values<object>(body.paths).flatMap(Object.keys).length).toBeLessThanOrEqual(82)
  expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(310_000)
})

/**
 * JSON for a file in git: what fits on a line stands on one, the rest is broken into lines. A change shows as the lines that
 * it is about, and the file is little larger than the minified text.
 */
function formatJson(value: unknown, width: number, indent = ''): string {
  const text = JSON.stringify(value)
  if (text.length + indent.length <= width || typeof value !== 'object' || value === null) return text
  const deeper = `${indent} `
  const isList = Array.isArray(value)
  const lines = isList
    ? value.map((one) => deeper + formatJson(one, width, deeper))
    : Object.entries(value)
        .filter(([, inner]) => inner !== undefined)
        .map(([key, inner]) => `${deeper}${JSON.stringify(key)}: ${formatJson(inner, width, deeper)}`)
  const [open, close] = isList ? '[]' : '{}'
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}
