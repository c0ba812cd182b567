/** Every example of the API documents, sent to a live server in their order. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { inlineComponents } from '../../scripts/reference/page-parts.ts'
import { ERROR_TABLE } from '../../src/http/errors/error-table.ts'
import { openWorld, until, type World } from '../world.ts'

interface Parameter {
  in: string
  name: string
  required: boolean
  example?: string | number | boolean
}

interface Media {
  schema: object
  example?: unknown
  examples?: Record<string, { value: unknown }>
}

interface Operation {
  operationId: string
  parameters: Parameter[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { content?: Record<string, Media> }>
}

interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>>
}

interface Sent {
  call: string
  status: number
  body: string
}

/** What only the server can name: where an example of one comes from. */
const NAMES = {
  evals: ['eval-0123456789abcdef0123', 'eval-fedcba9876543210fedc'],
  collection: 'collect-0123456789abcdef0123',
  rescore: 'rescore-0123456789abcdef0123',
  dump: 'reasoning_gym_environment_rollouts_00000000-0000-4000-8000-000000000000_0001.jsonl',
}

let world: World
let url: string
let paths: OpenApiDocument['paths']
beforeAll(async () => {
  world = await openWorld({ worker: true })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  const [api, trainers] = await Promise.all(
    ['/openapi.json', '/openapi/trainers.json'].map(async (path) => {
      const document = (await (await fetch(url + path)).json()) as OpenApiDocument
      return inlineComponents(document).paths
    }),
  )
  for (const run of ['demo', 'scratch']) await world.call('PUT', `/runs/${run}`, {})
  paths = { ...api, ...trainers }
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
  const without = operations().flatMap(({ call, parameters, requestBody }) => {
    const missing = parameters.filter(({ required, example }) => required && example === undefined)
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
  const answers: Sent[] = []
  for (const { call, path, method, parameters, requestBody } of operations()) {
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
      answers.push({ call, status: answer.status, body: text })
      if (call === 'POST /eval') named.set(NAMES.evals[k] ?? '', idIn(text))
      if (call === 'POST /runs/{run}/collect') named.set(NAMES.collection, idIn(text))
      if (call === 'POST /runs/{run}/rescore') named.set(NAMES.rescore, idIn(text))
    }
  }
  const refused = answers.filter(({ call, status }) => status >= 400 && !isNothingFailed(call, status))
  expect(refused.map((one) => ({ ...one, body: one.body.slice(0, 300) }))).toEqual([])
}, 180_000)

it('every example of a response is one by its schema', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false })
  const examples = operations().flatMap(({ call, responses }) =>
    Object.values(responses).flatMap(({ content = {} }) =>
      Object.values(content).flatMap(({ schema, example }) =>
        example === undefined ? [] : [{ call, schema, example }],
      ),
    ),
  )
  expect(examples.length).toBeGreaterThan(30)
  const wrong = examples.filter(({ schema, example }) => !ajv.validate(schema, example))
  expect(wrong.map(({ call }) => call)).toEqual([])
})

/** Nothing has failed here, so there is nothing to try again; and the eval has no result yet. */
function isNothingFailed(call: string, status: number): boolean {
  if (call === 'GET /eval/{id}/hub-results') return status === 400
  return call === 'POST /jobs/failed/{id}/retry' && status === 404
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
