import { pino } from 'pino'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { App } from '../../../src/http/app.ts'
import { addRoutesWithAccess } from '../../../src/http/auth/access-rule.ts'
import { loadKeyRing } from '../../../src/http/auth/key-ring.ts'
import { createHttpServer, type HttpOptions } from '../../../src/http/server.ts'
import { FAST_PARSERS, withFastParser } from '../../../src/http/validation.ts'
import { NO_REPLICATION } from '../../../src/platform/redis/replication.ts'
import { TransferSlots } from '../../../src/platform/transfer-slots.ts'

const createServer = (addRoutes: (app: App) => void, options: HttpOptions = {}) =>
  createHttpServer(
    {
      log: pino({ level: 'silent' }),
      metricsRecorder: { recordResponse: () => {} },
      transfers: {
        bodies: new TransferSlots({ slots: 4, waitMs: 1000, slowMs: 1000, setting: 'LARGE_BODIES' }),
        replies: new TransferSlots({ slots: 4, waitMs: 1000, slowMs: 1000, setting: 'LARGE_REPLIES' }),
      },
      replication: NO_REPLICATION,
      isQuietRun: async () => true,
      addRoutes,
    },
    options,
  )

it('a server with a route that does not say who may call it does not start', async () => {
  await expect(createServer((app) => app.get('/secrets', () => 'open'))).rejects.toThrow(
    'GET /secrets does not say who may call it',
  )
})

it('routes that are added together share an access rule, unless one declares its own', async () => {
  const app = await createServer((server) => {
    addRoutesWithAccess(server, 'trainers', (scope) => {
      scope.get('/wire/state', () => ({}))
      scope.get('/wire/health', { config: { access: 'anyone' } }, () => ({}))
    })
    server.get('/tasks', { config: { access: 'readers' } }, () => ({}))
  })
  const roles = [...app.accessRules].map(([route, rule]) => [route, rule.roles])
  expect(Object.fromEntries(roles)).toMatchObject({
    'GET /wire/state': ['trainer', 'admin'],
    'HEAD /wire/state': ['trainer', 'admin'],
    'GET /wire/health': 'anyone',
    'GET /tasks': ['reader', 'trainer', 'evaluator', 'admin'],
  })
  await app.close()
})

it('a server with a route that requires a run, and that nobody can name one for, does not start', async () => {
  const config = { access: 'readers', requiresRunForBoundKey: true } as const
  await expect(createServer((app) => app.get('/stores', { config }, () => []))).rejects.toThrow(
    'GET /stores requires a run',
  )
})

it('a run in a field that the schema does not have opens nothing, also if a fast parser hands it on', async () => {
  const config = { access: 'trainers', requiresRunForBoundKey: true } as const
  const body = withFastParser(z.object({ data: z.string() }), (value) => value as object)
  const querystring = z.strictObject({ run: z.string().optional() })
  const app = await createServer(
    (server) => server.post('/stores', { config, schema: { body, querystring } }, () => ({})),
    { keyRing: loadKeyRing({ API_KEYS: 'trainer@mine:bound', API_KEYS_FILE: undefined }) },
  )
  const post = async (url: string, payload: object) =>
    (await app.inject({ method: 'POST', url, payload, headers: { 'x-api-key': 'bound' } })).statusCode
  expect(await post('/stores', { data: 'x', run: 'mine' })).toBe(403)
  expect(await post('/stores?run=theirs', { data: 'x', run: 'mine' })).toBe(403)
  expect(await post('/stores?run=mine', { data: 'x' })).toBe(200)
  await app.close()
  FAST_PARSERS.delete(body) // of no route: a test of all of them may share this process
})

it.each([
  ['an object', z.object({ run: z.string() })],
  ['a default', z.strictObject({ run: z.string().optional() }).default({})],
  ['one form of several', z.xor([z.strictObject({ run: z.string() }), z.strictObject({ task: z.string() })])],
  ['what is transformed', z.object({ run: z.string() }).transform(({ run }) => run)],
])('the rule finds the run of a body in %s', async (_what, body) => {
  const app = await createServer((server) =>
    server.post('/runs/:run/copies', { config: { access: 'trainers' }, schema: { body } }, () => ({})),
  )
  expect(app.accessRules.get('POST /runs/:run/copies')?.runPlaces).toEqual(['params', 'body'])
  await app.close()
})
