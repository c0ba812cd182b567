import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { formatJson } from '../scripts/format-json.ts'
import { REFERENCE_PAGES } from '../scripts/reference/pages.ts'
import { getAccessRule } from '../src/http/auth/permissions.ts'
import { inlineComponents } from '../src/http/openapi/components.ts'
import { EXAMPLE_DETAILS } from '../src/http/openapi/problem-examples.ts'
import { openWorld, type World } from './world.ts'

const FILE = new URL('../openapi/openapi.json', import.meta.url)

/** Characters of a line. */
const FILE_WIDTH = 160

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

it('openapi/openapi.json is what the server serves; a change writes it anew', async () => {
  const { status, body } = await world.call('GET', '/openapi.json')
  expect([status, body.detail]).toEqual([200, undefined])
  const written = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : undefined
  if (JSON.stringify(written) !== JSON.stringify(body)) {
    writeFileSync(FILE, `${formatJson(body, FILE_WIDTH)}\n`)
    for (const page of ['http.md', 'schemas.md'])
      writeFileSync(new URL(`../docs/reference/${page}`, import.meta.url), REFERENCE_PAGES[page]?.() ?? '')
  }
  expect(written, 'openapi/openapi.json was out of date and is written now: look at it and commit it').toEqual(body)
})

it('is valid OpenAPI 3.1', async () => {
  const { body } = await world.call('GET', '/openapi.json')
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
        { type: 'object', properties: { dtype: { enum: ['int32', 'float32', 'uint8', 'int16', 'float64'] } } },
      ])
  }
})

it('reusable schemas are components under their own names, each of them used', async () => {
  const { body } = await world.call('GET', '/openapi.json')
  const names = Object.keys(body.components.schemas)
  expect(names).toEqual(expect.arrayContaining(['Batch', 'Group', 'Item', 'Problem', 'Run', 'RunState', 'Verdict']))
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

it('every operation has an operationId of its own: a verb and a noun in camelCase', async () => {
  const { body } = await world.call('GET', '/openapi.json')
  const operations = Object.values<Record<string, { operationId?: string }>>(body.paths).flatMap(Object.values)
  const ids = operations.map(({ operationId }) => operationId ?? '')
  expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]+)+$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
})

it('every route has a sentence, a tag, and answers that are described', async () => {
  const { body } = await world.call('GET', '/openapi.json')
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

it('src/http/auth/permissions.ts has a row for every route', () => {
  const routes = [...world.app.accessRules.keys()]
  expect(routes.length).toBeGreaterThan(15)
  expect(routes.filter((route) => getAccessRule(...(route.split(' ') as [string, string])) === undefined)).toEqual([])
})

const SENTENCE = /^(?:[A-Z0-9`*[({“]|null|true|false).*[.)]$/s
/** An imperative without a period, after the name of a protocol: `OpenEnv: get the state`. */
const SUMMARY = /^(?=[A-Z])(?:[\w &]+: )?[A-Za-z]+(?<!s) .*[^.]$/

it('every schema, field, parameter, operation and response is described in sentences', async () => {
  const { body } = await world.call('GET', '/openapi.json')
  const { schemas, parameters, responses } = body.components
  type Described = { $ref?: string; description?: string; properties?: Record<string, Described>; allOf?: Described[] }
  type Operation = Described & {
    operationId: string
    summary: string
    parameters?: (Described & { name: string })[]
    responses: Record<string, Described>
  }
  const operations = Object.values<Record<string, Operation>>(body.paths).flatMap((methods) => Object.values(methods))
  const listFields = ([name, { properties = {}, allOf = [] }]: [string, Described]): [string, Described][] => [
    ...Object.entries(properties).map(([key, field]): [string, Described] => [`${name}.${key}`, field]),
    ...allOf.flatMap((part) => listFields([name, part])),
  ]
  const described: [string, Described][] = [
    ...Object.entries<Described>({ ...schemas, ...parameters, ...responses }),
    ...Object.entries<Described>(schemas).flatMap(listFields),
    ...operations.flatMap((operation): [string, Described][] => [
      [operation.operationId, operation],
      ...(operation.parameters ?? []).map((one): [string, Described] => [`${operation.operationId} ${one.name}`, one]),
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
})

it('the examples of errors have the words of the code that sends them', () => {
  const folder = new URL('../src/', import.meta.url)
  const code = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:ts|py)$/.test(file) && !file.endsWith('problem-examples.ts'))
    .map((file) => readFileSync(new URL(file, folder), 'utf8'))
    .join('\n')
  const unknown = Object.entries(EXAMPLE_DETAILS).filter(([, detail]) => {
    const words = detail.split(' ')
    const runs = words.slice(0, -2).map((_, k) => words.slice(k, k + 3).join(' '))
    return detail.length > 40 && !runs.some((text) => code.includes(text)) && !code.includes(detail)
  })
  expect(unknown.map(([name]) => name)).toEqual([])
})

it('has at most 362 KB minified, and 428 KB in its file', async () => {
  const { body } = await world.call('GET', '/openapi.json')
  expect(JSON.stringify(body).length).toBeLessThan(362_000)
  expect(readFileSync(FILE).length).toBeLessThan(428_000)
})
