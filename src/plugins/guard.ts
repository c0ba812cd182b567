/** At the door: who calls, and whether the table of access lets them in. Refusals come before a body is read. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { KeyRing } from '../access/key-ring.ts'
import { isLoopback } from '../access/loopback.ts'
import { Fault } from '../faults.ts'
import { type Caller, mayUse } from '../words/caller.ts'
import { mayCall, type Row, rowOf } from './access.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
  interface FastifyInstance {
    /** What every route asks of its callers, by method and url. */
    rows: ReadonlyMap<string, Row>
  }
}

const ADMINS_ONLY: Row = { roles: ['admin'] }

export function addGuard(app: FastifyInstance, keys: KeyRing | undefined): void {
  const rows = new Map<string, Row>()
  app.decorate('rows', rows)
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) rows.set(`${one} ${url}`, rowOf(one, url) ?? ADMINS_ONLY)
  })
  app.decorateRequest('caller', null as unknown as Caller) // the next hook sets it before anything reads it
  app.addHook('onRequest', (request, _reply, done) => {
    request.caller = keys ? callerBehind(request, keys) : callerFromHere(request)
    done()
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) admit(request, reply, rows.get(`${request.method} ${request.routeOptions.url}`) ?? ADMINS_ONLY)
    done()
  })
  app.addHook('preHandler', (request, _reply, done) => {
    const { caller, params, query, body } = request
    for (const part of [params, query, body]) assertRun(caller, fieldOf(part, 'run'))
    if (fieldOf(query, 'reveal') === true && caller.role !== 'admin') {
      throw new Fault('forbidden', 'Only an admin may see answers')
    }
    done()
  })
}

function callerBehind({ headers, ip }: FastifyRequest, keys: KeyRing): Caller {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const [key] = [bearer ?? headers['x-api-key']].flat()
  return (key !== undefined && keys.callerOf(key)) || { id: ip, role: null, runs: new Set() }
}

/**
 * Without keys a page in a browser on this machine could call too: under a name of its own that points here, or by a
 * form. So the host must be loopback by name, and what changes something must not come from another site.
 */
function callerFromHere({ hostname, headers, method, ip }: FastifyRequest): Caller {
  if (hostname !== '' && !isLoopback(hostname)) {
    throw new Fault('forbidden', `Without API_KEYS the server answers to localhost, not to ${hostname.slice(0, 100)}`)
  }
  const site = headers['sec-fetch-site']
  if (method !== 'GET' && method !== 'HEAD' && site === 'cross-site') {
    throw new Fault('forbidden', 'Without API_KEYS pages of other sites may change nothing')
  }
  return { id: ip, role: 'admin', runs: null }
}

function admit({ caller, params, query }: FastifyRequest, reply: FastifyReply, row: Row): void {
  if (row.roles === 'anyone') return
  if (caller.role === null) {
    reply.header('www-authenticate', 'Bearer')
    throw new Fault('unauthorized', 'Send a key: Authorization: Bearer KEY, or X-API-Key: KEY')
  }
  if (!mayCall(caller.role, row)) {
    throw new Fault('forbidden', `A key of a ${caller.role} may not do that; it takes one of: ${row.roles.join(', ')}`)
  }
  assertRun(caller, fieldOf(params, 'run'))
  assertRun(caller, fieldOf(query, 'run'))
  if (row.boundNamesRun && caller.runs && fieldOf(query, 'run') === undefined) {
    throw new Fault('forbidden', `This key is bound to runs: add ?run= and one of ${[...caller.runs].join(', ')}`)
  }
}

function assertRun(caller: Caller, run: unknown): void {
  if (typeof run === 'string' && !mayUse(caller, run)) {
    throw new Fault('forbidden', `This key is bound to other runs than ${run.slice(0, 100)}`)
  }
}

function fieldOf(part: unknown, name: string): unknown {
  return typeof part === 'object' && part !== null ? Reflect.get(part, name) : undefined
}
