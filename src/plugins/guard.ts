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

/** Each route gets hooks that know its row: they stand before its own, so that it does nothing for whom it refuses. */
export function addGuard(app: FastifyInstance): void {
  const rows = new Map<string, Row>()
  app.decorate('rows', rows)
  app.addHook('onRoute', (route) => {
    const methods = [route.method].flat()
    const found = methods.map((method) => rowOf(method, route.url) ?? ADMINS_ONLY)
    methods.forEach((method, k) => {
      rows.set(`${method} ${route.url}`, found[k] ?? ADMINS_ONLY)
    })
    const [row = ADMINS_ONLY, ...others] = found
    if (others.some((other) => other !== row)) throw new Error(`${route.url}: one row for all methods of a route`)
    route.onRequest = [
      (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
        admit(request, reply, row)
        done()
      },
      ...[route.onRequest ?? []].flat(),
    ]
    route.preHandler = [
      (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
        holdToRuns(request, row)
        done()
      },
      ...[route.preHandler ?? []].flat(),
    ]
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

/** Once params, query and body are read. */
function holdToRuns({ caller, params, query, body }: FastifyRequest, row: Row): void {
  if (caller.runs) {
    const parts = row.bodyRunIsOrigin ? [params, query] : [params, query, body]
    const named = parts.map((part) => fieldOf(part, 'run')).filter((run) => run !== undefined)
    for (const run of named) assertRun(caller, run)
    if (row.boundNamesRun && named.length === 0) {
      throw new Fault('forbidden', `This key is bound to runs: name one of them as run: ${[...caller.runs].join(', ')}`)
    }
  }
  if (caller.role !== 'admin' && fieldOf(query, 'reveal') === true) {
    throw new Fault('forbidden', 'Only an admin may see answers')
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
