/** At the door: whether the table of access lets the caller in. Refusals come before a body is read. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../faults.ts'
import { type Caller, mayUse } from '../words/caller.ts'
import { mayCall, type Row, rowOf } from './access.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** What every route asks of its callers, by method and url. */
    rows: ReadonlyMap<string, Row>
  }
}

const ADMINS_ONLY: Row = { roles: ['admin'] }

export function addGuard(app: FastifyInstance): void {
  const rows = new Map<string, Row>()
  app.decorate('rows', rows)
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) rows.set(`${one} ${url}`, rowOf(one, url) ?? ADMINS_ONLY)
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) admit(request, reply, rows.get(`${request.method} ${request.routeOptions.url}`) ?? ADMINS_ONLY)
    done()
  })
  app.addHook('preHandler', (request, _reply, done) => {
    const { caller, params, query, body } = request
    const row = rows.get(`${request.method} ${request.routeOptions.url}`)
    const parts = row?.bodyRunIsOrigin ? [params, query] : [params, query, body]
    const named = parts.map((part) => fieldOf(part, 'run')).filter((run) => run !== undefined)
    for (const run of named) assertRun(caller, run)
    if (row?.boundNamesRun && caller.runs && named.length === 0) {
      throw new Fault('forbidden', `This key is bound to runs: name one of them as run: ${[...caller.runs].join(', ')}`)
    }
    if (fieldOf(query, 'reveal') === true && caller.role !== 'admin') {
      throw new Fault('forbidden', 'Only an admin may see answers')
    }
    done()
  })
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
}

function assertRun(caller: Caller, run: unknown): void {
  if (typeof run === 'string' && !mayUse(caller, run)) {
    throw new Fault('forbidden', `This key is bound to other runs than ${run.slice(0, 100)}`)
  }
}

function fieldOf(part: unknown, name: string): unknown {
  return typeof part === 'object' && part !== null ? Reflect.get(part, name) : undefined
}
