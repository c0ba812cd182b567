/** At the door: whether the table of access lets the caller in. Refusals come before a body is read. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { type Caller, canAccessRun } from '../../contract/caller.ts'
import { ServiceError } from '../../contract/errors.ts'
import { type AccessRule, getAccessRule, isRoleAllowed } from './permissions.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** What every route asks of its callers, by method and url. */
    accessRules: ReadonlyMap<string, AccessRule>
  }
}

const ADMINS_ONLY: AccessRule = { roles: ['admin'] }

/** Each route gets hooks that know its row: they stand before its own, so that it does nothing for whom it refuses. */
export const authorization = fastifyPlugin(
  async (app) => {
    const accessRules = new Map<string, AccessRule>()
    app.decorate('accessRules', accessRules)
    app.addHook('onRoute', (route) => {
      const methods = [route.method].flat()
      const found = methods.map((method) => getAccessRule(method, route.url) ?? ADMINS_ONLY)
      methods.forEach((method, k) => {
        accessRules.set(`${method} ${route.url}`, found[k] ?? ADMINS_ONLY)
      })
      const [row = ADMINS_ONLY, ...others] = found
      if (others.some((other) => other !== row)) throw new Error(`${route.url}: one row for all methods of a route`)
      route.onRequest = [
        (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
          assertRoleAllowed(request, reply, row)
          done()
        },
        ...[route.onRequest ?? []].flat(),
      ]
      route.preHandler = [
        (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
          assertRunsAllowed(request, row)
          done()
        },
        ...[route.preHandler ?? []].flat(),
      ]
    })
  },
  { name: 'authorization', dependencies: ['authentication', 'rate-limit', 'request-admission'] },
)

function assertRoleAllowed({ caller, params, query }: FastifyRequest, reply: FastifyReply, row: AccessRule): void {
  if (row.roles === 'anyone') return
  if (caller.role === null) {
    reply.header('www-authenticate', 'Bearer')
    throw new ServiceError('unauthorized', 'Send a key: Authorization: Bearer KEY, or X-API-Key: KEY')
  }
  if (!isRoleAllowed(caller.role, row)) {
    throw new ServiceError(
      'forbidden',
      `A key of a ${caller.role} may not do that; it takes one of: ${row.roles.join(', ')}`,
    )
  }
  assertRunAllowed(caller, getField(params, 'run'))
  assertRunAllowed(caller, getField(query, 'run'))
}

/** Once params, query and body are read. */
function assertRunsAllowed({ caller, params, query, body }: FastifyRequest, row: AccessRule): void {
  if (caller.runs) {
    const parts = row.ignoresBodyRun ? [params, query] : [params, query, body]
    const named = parts.map((part) => getField(part, 'run')).filter((run) => run !== undefined)
    for (const run of named) assertRunAllowed(caller, run)
    if (row.requiresRunForBoundKey && named.length === 0) {
      throw new ServiceError(
        'forbidden',
        `This key is bound to runs: name one of them as run: ${[...caller.runs].join(', ')}`,
      )
    }
  }
  if (caller.role !== 'admin' && getField(query, 'reveal') === true) {
    throw new ServiceError('forbidden', 'Only an admin may see answers')
  }
}

function assertRunAllowed(caller: Caller, run: unknown): void {
  if (typeof run === 'string' && !canAccessRun(caller, run)) {
    throw new ServiceError('forbidden', `This key is bound to other runs than ${run.slice(0, 100)}`)
  }
}

function getField(part: unknown, name: string): unknown {
  return typeof part === 'object' && part !== null ? Reflect.get(part, name) : undefined
}
