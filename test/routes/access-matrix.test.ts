/**
 * Every route and wire with every role and with keys that are bound to runs. The calls are generated from what the routes
 * declare, so that a new route is tested without a line here.
 */
import { randomUUID } from 'node:crypto'
import { ApiKeyRole } from '@reasoning-gym-server/contract/caller'
import { formatDumpFileName } from '@reasoning-gym-server/contract/dump'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addRoutes } from '../../routes/index.ts'
import type { App } from '../../src/http/app.ts'
import type { AccessRule, RunPlace } from '../../src/http/auth/access-rule.ts'
import { type KeyRing, loadKeyRing } from '../../src/http/auth/key-ring.ts'
import { createHttpServer } from '../../src/http/server.ts'
import { openWorld, type World } from '../world.ts'

const KEYS = ApiKeyRole.options.map((role) => `${role}:${role}`)
/** `admin` cannot be bound. */
const BOUND_KEYS = ['reader', 'trainer', 'evaluator'].flatMap((role) => [`${role}@mine:${role}-of-mine`])

/** No other answer has it. */
const LET_IN = 299

let world: World
/** The same routes without their work: what gets in gets an empty answer. */
let doors: App
/** Examples of bodies, by method and path. */
const bodies = new Map<string, object>()
/** What belongs to a run, by the start of the URL that shows it. */
const owned: Record<'mine' | 'theirs', Record<string, string>> = { mine: {}, theirs: {} }

beforeAll(async () => {
  const keyRing = loadKeyRing({ API_KEYS: [...KEYS, ...BOUND_KEYS].join(), API_KEYS_FILE: undefined })
  world = await openWorld({ keyRing })
  const features = { ...world.features, startDemo: () => Promise.reject(new Error('no work here')) }
  doors = await openDoors(keyRing, (app) => addRoutes(app, features))
  for (const url of ['/openapi.json', '/openapi/trainers.json']) readBodies((await world.call('GET', url)).body)
  for (const run of ['mine', 'theirs'] as const) owned[run] = await createResources(run)
})
afterAll(async () => {
  await doors.close()
  await world.close()
})

function openDoors(keyRing: KeyRing | undefined, add: (app: App) => void): Promise<App> {
  const { log, recorder, transfers, replication } = world.platform
  const addRoutesWithoutWork = (app: App) => {
    app.addHook('onRoute', (route) => {
      route.handler = (_request, reply) => reply.status(LET_IN).serializer(String).send('')
    })
    add(app)
  }
  const isQuietRun = async () => true
  return createHttpServer(
    { log, metricsRecorder: recorder, transfers, replication, isQuietRun, addRoutes: addRoutesWithoutWork },
    { keyRing },
  )
}

// biome-ignore lint/suspicious/noExplicitAny: as documented by the server
function readBodies({ paths }: any): void {
  for (const [path, methods] of Object.entries<object>(paths)) {
    for (const [method, { requestBody }] of Object.entries(methods)) {
      const examples = Object.values<{ value: object }>(requestBody?.content['application/json'].examples ?? {})
      const example = examples.find(({ value }) => 'run' in value) ?? examples[0]
      if (example) bodies.set(`${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`, example.value)
    }
  }
}

async function createResources(run: string) {
  const create = async (url: string, body: object): Promise<string> => {
    const created = await world.call('POST', url, body, { 'x-api-key': 'admin' })
    expect(created).toMatchObject({ status: 202 })
    return created.body.id
  }
  await world.call('PUT', `/runs/${run}`, { tasks: ['gcd'] }, { 'x-api-key': 'admin' })
  return {
    '/eval/': await create('/eval', { model: null, suite: { tasks: ['gcd'], n: 1 }, run }),
    '/runs/:run/collect/': await create(`/runs/${run}/collect`, bodies.get('POST /runs/:run/collect') ?? {}),
    '/dumps/': await createDump(run),
  }
}

async function createDump(run: string): Promise<string> {
  const { dumps, repository } = world.features.dumps
  const uuid = randomUUID()
  const dump = formatDumpFileName({ uuid, kind: 'rollouts', number: 0 })
  async function* lines() {
    yield Buffer.from('{}\n')
  }
  await dumps.folder.writeFile(dump, lines(), async () => true, () => {}) // biome-ignore format: one line
  const file = { name: dump, run, kind: 'rollouts', groups: 1, bytes: 3, node: 'here' } as const
  const folder = await dumps.folder.getOrCreateId()
  await repository.registerFile({ run, uuid }, { ...file, folder, created_at: new Date().toISOString() })
  return dump
}

interface Call {
  app: App
  method: string
  url: string
  key?: string | undefined
  query?: Record<string, string>
  body?: object | undefined
}

async function statusOf({ app, method, url, key, query, body }: Call): Promise<number> {
  const answer = await app.inject({
    method: method as 'GET',
    url,
    headers: key === undefined ? {} : { 'x-api-key': key },
    ...(query && { query }),
    ...(body && { payload: body }),
    payloadAsStream: true, // some answers never end
  })
  answer
    .stream()
    .on('error', () => {})
    .destroy()
  return answer.statusCode
}

interface Route {
  app: App
  method: string
  url: string
  rule: AccessRule
}

const listRoutes = (app: App): Route[] =>
  [...app.accessRules].map(([route, rule]) => {
    const [method = '', url = ''] = route.split(' ')
    return { app, method, url, rule }
  })

/** The URL with the run in its path, and the ID of what belongs to `owner`. Other IDs are unknown: a call has no effect. */
function fill(url: string, run: string, owner?: 'mine' | 'theirs'): string {
  const [, id = '7'] = Object.entries(owner ? owned[owner] : {}).find(([start]) => url.startsWith(`${start}:`)) ?? []
  return url
    .replace(':run', run)
    .replace(/:(id|name)/, id)
    .replace(':sample', 's0')
    .replace(/:\w+/g, '7')
    .replace('*', 'index.html')
}

const PLACES: readonly RunPlace[] = ['params', 'query', 'body']
const isRefused = (status: number) => status === 401 || status === 403
const keyOfMine = ({ roles }: AccessRule) => {
  const role = (['trainer', 'evaluator', 'reader'] as const).find((one) => roles !== 'anyone' && roles.includes(one))
  return role && `${role}-of-mine`
}
const takesBody = ({ method }: Route) => !['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(method)

it('every route lets in the roles that it declares, and no others', async () => {
  const wrong: unknown[] = []
  for (const { app, method, url, rule } of listRoutes(doors)) {
    const call = { app, method, url: fill(url, 'unknown') }
    for (const key of [undefined, 'wrong', ...ApiKeyRole.options]) {
      const isAllowed = rule.roles === 'anyone' || rule.roles.some((role) => role === key)
      const status = await statusOf({ ...call, key })
      if (isRefused(status) === isAllowed) wrong.push([method, url, key, status])
    }
  }
  expect(wrong).toEqual([])
})

it('a bound key may name its runs wherever a call can name one, and no others', async () => {
  const wrong: unknown[] = []
  for (const route of listRoutes(doors)) {
    const { app, method, url, rule } = route
    const key = keyOfMine(rule)
    const { runPlaces } = rule
    if (!key || runPlaces.length === 0) continue
    const example = bodies.get(`${method} ${url}`)
    const statusWith = (runs: Partial<Record<RunPlace, string>>) => {
      const body = takesBody(route) ? { ...example, ...(runs.body && { run: runs.body }) } : undefined
      const query: Record<string, string> = runs.query === undefined ? {} : { run: runs.query }
      return statusOf({ app, method, url: fill(url, runs.params ?? 'none'), key, query, body })
    }
    const everywhere = Object.fromEntries(runPlaces.map((place) => [place, 'mine']))
    for (const place of runPlaces) {
      const status = await statusWith({ ...everywhere, [place]: 'theirs' })
      if (status !== 403) wrong.push([method, url, place, status])
    }
    const own = await statusWith(everywhere)
    if (own !== LET_IN && (runPlaces.includes('body') || isRefused(own))) wrong.push([method, url, 'its own run', own])
    const elsewhere = Object.fromEntries(
      PLACES.filter((place) => !runPlaces.includes(place)).map((place) => [place, 'mine']),
    )
    const beside = await statusWith({ ...elsewhere, ...(runPlaces.includes('params') && { params: 'theirs' }) })
    if (beside === LET_IN && rule.requiresRunForBoundKey)
      wrong.push([method, url, 'its run where the call has none', beside])
  }
  expect(wrong).toEqual([])
})

it('a bound key reaches what belongs to its runs, and nothing that belongs to others', async () => {
  const belongsToRun = ({ url }: Route) => Object.keys(owned.mine).some((start) => url.startsWith(`${start}:`))
  const isDeletion = ({ method }: Route) => method === 'DELETE'
  const routes = listRoutes(world.app).filter(belongsToRun)
  const wrong: unknown[] = []
  for (const route of [...routes.filter((one) => !isDeletion(one)), ...routes.filter(isDeletion)]) {
    const { app, method, url, rule } = route
    const key = keyOfMine(rule)
    if (!key) continue
    const statusFor = (owner: 'mine' | 'theirs') => {
      const body = takesBody(route) ? bodies.get(`${method} ${url}`) : undefined
      return statusOf({ app, method, url: fill(url, 'mine', owner), key, body })
    }
    const [theirs, mine] = [await statusFor('theirs'), await statusFor('mine')]
    if (![403, 404].includes(theirs)) wrong.push([method, url, 'theirs', theirs])
    if ([401, 403, 404].includes(mine)) wrong.push([method, url, 'mine', mine])
  }
  expect(wrong).toEqual([])
  expect(routes.length).toBeGreaterThan(20)
})
