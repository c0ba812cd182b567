/** The routes of ORS, at the root of a port of their own, because the client accepts no path prefix. */
import { randomUUID } from 'node:crypto'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../../http/app.ts'
import { addRoutesWithAccess, hasAccess } from '../../../http/auth/access-rule.ts'
import { EVENT_STREAM_HEADERS } from '../../../http/streamed-responses.ts'
import { AnyQuery } from '../../../http/validation.ts'
import { VERSION } from '../../../platform/installation.ts'
import type { AdaptersFeature } from '../index.ts'
import { observeDelivery } from '../trainer-calls.ts'
import { listSplits, type OrsEnvironment } from './environments.ts'
import { CallBody, CreateBody, GroupBody, SplitBody, TaskBody, TaskRangeBody, TOOLS } from './wire.ts'

const MAX_SESSION_ID_CHARS = 200
const CALL_BODY_BYTES = 16 * 1024 * 1024
const READERS = { access: 'readers' } as const
/** A session is stored by `/create` and is for trainers. Clients of other roles may make the calls around it. */
const TRAINERS = { access: 'trainers' } as const

const HEADER_SESSION = 'x-session-id'
const HEADER_DEPLOYMENT = 'x-deployment'

type OrsFeature = AdaptersFeature['ors']

/** Adds a route at `/NAME` for the environment that a header names, and at `/{env}/NAME`. */
const ENVIRONMENT_PREFIXES = ['', '/:env']

export function addOrsRoutes(app: App, ors: OrsFeature): void {
  // The client retries for ten minutes while a backend "starts"; after any other 503 it gives up at the third call.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (reply.statusCode === 503) reply.header('x-backend-state', 'starting')
    done(null, payload)
  })
  // aiohttp sends a missing body as an octet stream
  app.addContentTypeParser('application/octet-stream', (_request, payload, done) => {
    payload.resume()
    done(null)
  })
  addServerRoutes(app, ors)
  for (const prefix of ENVIRONMENT_PREFIXES) {
    addRoutesWithAccess(app, 'readers', (scope) => addTaskRoutes(scope, prefix, ors))
    addRoutesWithAccess(app, 'trainers', (scope) => addEpisodeRoutes(scope, prefix, ors))
  }
}

function addServerRoutes(app: App, { environments, episodes, sessions }: OrsFeature): void {
  app.get('/health', { config: { access: 'anyone' }, schema: { querystring: AnyQuery } }, async () => ({
    status: 'ok',
  }))
  app.get('/version', { config: READERS }, async () => ({ version: VERSION, build_sha: null }))
  app.get('/list_environments', { config: READERS }, async ({ caller }) => environments.list(caller))

  app.post('/create_session', { config: READERS }, async (_request, reply) =>
    reply.headers(EVENT_STREAM_HEADERS).send(formatEvents(randomUUID(), '')),
  )
  app.post('/create', { config: TRAINERS, schema: { body: CreateBody } }, async (request) => {
    const id = requireSessionId(request)
    const environment = await requireEnvironment(request, environments, request.body.env_name ?? undefined)
    const source = JSON.stringify([environment.name, request.body])
    const known = await sessions.get(id)
    if (known && known.source !== source) throw createUsedSessionError()
    const itemId = known?.itemId ?? (await environments.requireItemId(environment, request.body, request))
    const { run = null, incarnation } = environment
    const session = await sessions.create(id, { run, incarnation, itemId, source })
    if (session.source !== source) throw createUsedSessionError()
    return { sid: id }
  })
  app.post('/ping', { config: TRAINERS }, async (request) => {
    await episodes.requireSession(requireSessionId(request), request.caller)
    return { status: 'ok' }
  })
  app.post('/delete', { config: TRAINERS }, async (request) => {
    const id = requireSessionId(request)
    await episodes.requireSession(id, request.caller)
    await sessions.delete(id)
    return { sid: id }
  })
  // Clients end with it whatever came before, so a session that the caller cannot use is no error, and stays.
  app.post('/delete_session', { config: READERS }, async (request) => {
    const { caller } = request
    const id = requireSessionId(request)
    if (hasAccess(caller, TRAINERS.access) && (await episodes.findSession(id, caller))) await sessions.delete(id)
    return { sid: id }
  })
}

function addTaskRoutes(app: App, prefix: string, { environments }: OrsFeature): void {
  const resolve = (request: FastifyRequest) => requireEnvironment(request, environments)

  app.get(`${prefix}/tools`, async (request) => {
    await resolve(request)
    return TOOLS
  })
  app.get(`${prefix}/splits`, async (request) => {
    await resolve(request)
    return listSplits()
  })
  app.post(`${prefix}/num_tasks`, { schema: { body: SplitBody } }, async (request) => ({
    num_tasks: environments.countTasks(await resolve(request), request.body.split),
  }))
  app.post(`${prefix}/tasks`, { schema: { body: SplitBody } }, async (request) => {
    const environment = await resolve(request)
    return { tasks: await environments.listTasks(environment, request.body.split), env_name: environment.name }
  })
  app.post(`${prefix}/task_range`, { schema: { body: TaskRangeBody } }, async (request) => {
    const environment = await resolve(request)
    const { split, start, stop } = request.body
    const tasks = await environments.listTasks(environment, split, start ?? 0, stop ?? undefined)
    return { tasks, env_name: environment.name }
  })
  app.post(`${prefix}/task`, { schema: { body: TaskBody } }, async (request) => {
    const environment = await resolve(request)
    const task = await environments.requireTask(environment, request.body.split, request.body.index)
    return { task, env_name: environment.name }
  })
}

function addEpisodeRoutes(app: App, prefix: string, { episodes }: OrsFeature): void {
  const requireSession = (request: FastifyRequest) => episodes.requireSession(requireSessionId(request), request.caller)

  app.get(`${prefix}/task_tools`, async (request) => {
    await requireSession(request)
    return TOOLS
  })
  app.get(`${prefix}/prompt`, async (request) => [await episodes.getPrompt(await requireSession(request))])
  app.get(`${prefix}/messages`, async (request) => [
    { role: 'user', blocks: [await episodes.getPrompt(await requireSession(request))], detail: null },
  ])
  app.post(`${prefix}/call`, { bodyLimit: CALL_BODY_BYTES, schema: { body: CallBody } }, async (request, reply) => {
    const delivery = observeDelivery(reply)
    const id = requireSessionId(request)
    const result = await episodes.call(id, await requireSession(request), request.body, delivery)
    return reply.headers(EVENT_STREAM_HEADERS).send(formatEvents(id, result))
  })
  app.post(
    `${prefix}/score_group`,
    { bodyLimit: CALL_BODY_BYTES, schema: { body: GroupBody } },
    async (request, reply) => {
      const scores = await episodes.scoreGroup(await requireSession(request), request.body.candidates)
      return reply.headers(EVENT_STREAM_HEADERS).send(formatEvents(randomUUID(), JSON.stringify({ scores })))
    },
  )
}

async function requireEnvironment(
  { params, headers, caller }: FastifyRequest,
  environments: OrsFeature['environments'],
  named?: string,
): Promise<OrsEnvironment> {
  const env = z.object({ env: z.string().optional() }).parse(params).env
  const deployment = headers[HEADER_DEPLOYMENT]
  return environments.require(env ?? named, typeof deployment === 'string' ? deployment : undefined, caller)
}

function requireSessionId({ headers }: FastifyRequest): string {
  const id = headers[HEADER_SESSION]
  if (typeof id !== 'string' || id === '' || id.length > MAX_SESSION_ID_CHARS)
    throw new ServiceError('invalid_request', 'The session is missing. Send it as X-Session-ID.')
  return id
}

/**
 * Sends a result as soon as it is available. The client resumes by the ID, which names the session, so nothing runs
 * twice.
 */
function formatEvents(id: string, result: string): string {
  return `event: task_id\ndata: ${id}\n\nevent: end\ndata: ${result}\n\n`
}

function createUsedSessionError(): ServiceError {
  return new ServiceError('invalid_request', 'Session already exists, with another task. Use a new session ID.')
}
