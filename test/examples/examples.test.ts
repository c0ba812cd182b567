/** Every example of the document, sent to a live server in the document's order. */
import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ERROR_TABLE } from '../../src/http/errors/error-table.ts'
import { inlineComponents } from '../../src/http/openapi/components.ts'
import type { OpenApiPaths } from '../../src/http/openapi/examples.ts'
import type { ResponseExample } from '../../src/http/openapi/response-examples.ts'
import { openWorld, until, type World } from '../world.ts'
import { isValidResponse, readResponseExamples, trimResponse, writeResponseExamples } from './response-examples.ts'

interface OpenApiDocument {
  paths: OpenApiPaths
  components: Record<string, Record<string, unknown>>
}

interface Sent {
  call: string
  operationId: string
  status: number
  body: string
}

/** What only the server can name: where an example of one comes from. */
const NAMES = {
  evals: ['eval-0123456789abcdef0123', 'eval-fedcba9876543210fedc'],
  duel: 'duel-0123456789abcdef0123',
  collection: 'collect-0123456789abcdef0123',
  dump: 'reasoning_gym_environment_rollouts_00000000-0000-4000-8000-000000000000_0001.jsonl',
}

/** Of these, the answer at the end of the session is recorded: it says more than the one in the document's order. */
const RECORDED_LAST = new Set([
  ...['getRun', 'listRuns', 'getRunHistory', 'getOverview'],
  ...[
    'getEval',
    'listEvals',
    'compareEvals',
    'listEvalItems',
    'getDuel',
    'listDuels',
    'getCollection',
    'listCollections',
  ],
])

/** What an example is too long for, what the session has no JSON for, and what fails in it. */
const NOT_RECORDED = new Set([
  ...['createCheckpoint', 'exportRun', 'getEvalReport', 'getDuelReport', 'getOpenenvDocument', 'retryFailedJob'],
  ...[
    'changeRunLifecycle',
    'restoreCheckpoint',
    'listDuels',
    'listCollections',
    'listRetainedGroups',
    'getNemoGymServers',
    'getSuite',
    'disconnectAtroposEnvironment',
    'takeAtroposBatch',
  ],
])

/** What the session made, for the next test. */
const answers: Sent[] = []

let world: World
let url: string
let paths: OpenApiPaths
beforeAll(async () => {
  world = await openWorld({ worker: true })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  paths = inlineComponents((await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument).paths
}, 120_000)
afterAll(() => world.close())

const operations = () =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      call: `${method.toUpperCase()} ${path}`,
      path,
      method,
      ...operation,
    })),
  )

it('every parameter that is required and every body has an example', () => {
  const without = operations().flatMap(({ call, parameters = [], requestBody }) => {
    const missing = parameters.filter((one) => (one as { required?: boolean }).required && one.example === undefined)
    const body = requestBody && !requestBody.content['application/json']?.examples ? ['body'] : []
    return [...missing.map(({ name }) => name), ...body].map((what) => `${call}: ${what}`)
  })
  expect(without).toEqual([])
})

it('the document names every code of the table', async () => {
  const { components } = (await (await fetch(`${url}/openapi.json`)).json()) as { components: { responses: object } }
  const text = JSON.stringify(components.responses)
  for (const code of Object.keys(ERROR_TABLE)) expect(text).toContain(`\`${code}\``)
})

it('every example works when it is sent as it is', async () => {
  const dump = await aDump()
  const named = new Map<string, string>([[NAMES.dump, dump]])
  const model = await openModel()
  const inOrder = operations()
  const again = inOrder.filter(({ operationId = '' }) => RECORDED_LAST.has(operationId))
  for (const { call, operationId = '', path, method, parameters = [], requestBody } of [...inOrder, ...again]) {
    const real = (text: string) => named.get(text) ?? text
    const of = (place: string) =>
      parameters.flatMap((one) =>
        one.in === place && one.example !== undefined ? [[one.name, real(String(one.example))] as const] : [],
      )
    const filled = of('path').reduce((so, [name, value]) => so.replace(`{${name}}`, encodeURIComponent(value)), path)
    const query = new URLSearchParams(Object.fromEntries(of('query')))
    const bodies = Object.values(requestBody?.content['application/json']?.examples ?? { none: { value: undefined } })
    for (const [k, { value }] of (bodies as { value: unknown }[]).entries()) {
      const answer = await fetch(`${url}${filled}?${query.toString()}`, {
        method: method.toUpperCase(), // fetch leaves `patch` as it is
        headers: {
          ...Object.fromEntries(of('header')),
          ...(value !== undefined && { 'content-type': 'application/json' }),
        },
        ...(value !== undefined && { body: JSON.stringify(value) }),
        signal: AbortSignal.timeout(30_000),
      })
      const text = isEndless(call) ? await firstPiece(answer) : await answer.text()
      answers.push({ call, operationId, status: answer.status, body: text })
      if (call === 'POST /eval') named.set(NAMES.evals[k] ?? '', idIn(text))
      if (call === 'POST /duels') named.set(NAMES.duel, idIn(text))
      if (call === 'POST /runs/{run}/collect') named.set(NAMES.collection, idIn(text))
    }
  }
  await model?.close()
  const refused = answers.filter(({ call, status }) => status >= 400 && !isNothingFailed(call, status))
  expect(
    refused.filter(({ call }) => !isSocket(call)).map((one) => ({ ...one, body: one.body.slice(0, 300) })),
  ).toEqual([])
  for (const [example, real] of named) for (const one of answers) one.body = one.body.replaceAll(real, example)
  for (const one of answers) one.body = one.body.replaceAll(`"${hostname()}`, '"node-1')
}, 180_000)

it('routes/response-examples.json has a valid answer of each operation; a missing one is recorded', () => {
  const kept = readResponseExamples()
  const wanted = Object.fromEntries(
    listRecordedOperations().flatMap(({ operationId, schemas }): [string, ResponseExample][] => {
      const old = kept[operationId]
      if (isValid(old, schemas)) return [[operationId, old]]
      const made = answers.filter((one) => one.operationId === operationId && one.status in schemas)
      const answer = RECORDED_LAST.has(operationId) ? made.at(-1) : made[0]
      if (!answer) return []
      const body: unknown = JSON.parse(answer.body)
      return [[operationId, { status: answer.status, body: trimResponse(body, schemas[answer.status] ?? {}) }]]
    }),
  )
  if (!isDeepStrictEqual(kept, wanted)) writeResponseExamples(wanted)
  expect(kept, 'routes/response-examples.json was out of date and has been rewritten: review and commit it').toEqual(
    wanted,
  )
  expect(JSON.stringify(wanted).length).toBeLessThan(28_000)
})

type ResponseSchemas = Record<string, object>

/** Those with a JSON answer. Of operations with the same response, the first one stands for all. */
function listRecordedOperations(): { operationId: string; schemas: ResponseSchemas }[] {
  const seen = new Set<string>()
  return operations().flatMap(({ operationId = '', responses = {} }) => {
    const answered = Object.entries(responses).flatMap(([status, { description, content }]) => {
      const schema = content?.['application/json']?.schema
      return schema && status.startsWith('2') ? [{ status, schema, text: JSON.stringify([description, schema]) }] : []
    })
    const isTwin = answered.every(({ text }) => seen.has(text)) && !RECORDED_LAST.has(operationId)
    for (const { text } of answered) seen.add(text)
    if (isTwin || NOT_RECORDED.has(operationId)) return []
    return [{ operationId, schemas: Object.fromEntries(answered.map(({ status, schema }) => [status, schema])) }]
  })
}

function isValid(example: ResponseExample | undefined, schemas: ResponseSchemas): example is ResponseExample {
  const schema = schemas[example?.status ?? '']
  return schema !== undefined && isValidResponse(example?.body, schema)
}

/** The port that the examples name. Needed to record: without it, evals, duels and collections show failures. */
async function openModel(): Promise<{ close(): Promise<void> } | undefined> {
  const kept = readResponseExamples()
  const isMissing = listRecordedOperations().some(({ operationId, schemas }) => !isValid(kept[operationId], schemas))
  return isMissing ? await startMockModel({ server: { url }, port: 9000 }) : undefined
}

/** Nothing has failed here, so there is nothing to try again. */
function isNothingFailed(call: string, status: number): boolean {
  return call === 'POST /jobs/failed/{id}/retry' && status === 404
}

/** A plain GET cannot open a WebSocket. */
function isSocket(call: string): boolean {
  return call.endsWith('/ws')
}

function isEndless(call: string): boolean {
  return call.endsWith('/events')
}

async function firstPiece(answer: Response): Promise<string> {
  const reader = answer.body?.getReader()
  const piece = await reader?.read()
  await reader?.cancel()
  return Buffer.from(piece?.value ?? []).toString()
}

function idIn(text: string): string {
  return (JSON.parse(text) as { id: string }).id
}

/** A file takes fifty failed groups. */
async function aDump(): Promise<string> {
  const { body } = await world.call('POST', '/items', { task: 'gcd', seed: 1 })
  await world.call('PUT', '/runs/dumped', { dump_failed_rollouts: true, min_trained_tokens: 0 })
  const groups = Array.from({ length: 50 }, (_, k) => ({
    item_id: body.items[0].id,
    group_id: `g${k}`,
    rollouts: [{ completion: 'no idea' }],
  }))
  await world.call('POST', '/rollouts', { run: 'dumped', groups }, { prefer: 'wait=30' })
  const { files } = await until(
    async () => (await world.call('GET', '/dumps?run=dumped')).body,
    (list) => list.files.length > 0,
  )
  return files[0].name
}
