/** Checks each request against the access rule of its route. It rejects before a body is read. */

import { type Caller, canAccessRun } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { hasReadableKey } from './authentication.ts'
import { type AccessRule, getAccessRule, isRoleAllowed } from './permissions.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The access rule of every route, by method and URL. */
    accessRules: ReadonlyMap<string, AccessRule>
  }
}

const ADMINS_ONLY: AccessRule = { roles: ['admin'] }

/** Gives each route hooks with its rule. They run before the route's own, so that a rejected request has no effect. */
export const authorization = fastifyPlugin(
  async (app) => {
    const accessRules = new Map<string, AccessRule>()
    app.decorate('accessRules', accessRules)
    app.addHook('onRoute', (route) => {
      const methods = [route.method].flat()
      const rules = methods.map((method) => getAccessRule(method, route.url) ?? ADMINS_ONLY)
      methods.forEach((method, k) => {
        accessRules.set(`${method} ${route.url}`, rules[k] ?? ADMINS_ONLY)
      })
      const [rule = ADMINS_ONLY, ...others] = rules
      if (others.some((other) => other !== rule))
        throw new Error(`${route.url}: all methods of a route need the same access rule`)
      route.onRequest = [
        (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
          assertRoleAllowed(request, reply, rule)
          done()
        },
        ...[route.onRequest ?? []].flat(),
      ]
      route.preHandler = [
        (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
          assertRunsAllowed(request, rule)
          done()
        },
        ...[route.preHandler ?? []].flat(),
      ]
    })
  },
  { name: 'authorization', dependencies: ['authentication', 'rate-limit', 'request-admission'] },
)

function assertRoleAllowed(
  { caller, params, query, headers }: FastifyRequest,
  reply: FastifyReply,
  rule: AccessRule,
): void {
  if (rule.roles === 'anyone') return
  if (caller.role === null) {
    // Not Basic, although it is accepted: browsers would ask for a password, store it, and send it with every request.
    reply.header('www-authenticate', 'Bearer')
    throw new ServiceError(
      'unauthorized',
      hasReadableKey(headers)
        ? 'This API key is not known to the server. Check it for typing errors, or ask for a new one.'
        : 'This call needs an API key. Send it as Authorization: Bearer KEY, as X-API-Key: KEY, or as the password in the URL: http://trainer:KEY@host.',
    )
  }
  if (!isRoleAllowed(caller.role, rule)) {
    throw new ServiceError(
      'forbidden',
      `A key with the role ${caller.role} may not make this call. Required role: ${rule.roles.join(' or ')}.`,
    )
  }
  assertRunAllowed(caller, getField(params, 'run'))
  assertRunAllowed(caller, getField(query, 'run'))
}

/** Runs once params, query and body are parsed. */
function assertRunsAllowed({ caller, params, query, body }: FastifyRequest, rule: AccessRule): void {
  if (caller.runs) {
    const parts = rule.ignoresBodyRun ? [params, query] : [params, query, body]
    const namedRuns = parts.map((part) => getField(part, 'run')).filter((run) => run !== undefined)
    for (const run of namedRuns) assertRunAllowed(caller, run)
    if (rule.requiresRunForBoundKey && namedRuns.length === 0) {
      throw new ServiceError(
        'forbidden',
        `This API key is bound to runs. Name one of them as run: ${[...caller.runs].join(', ')}.`,
      )
    }
  }
  if (caller.role !== 'admin' && getField(query, 'reveal') === true) {
    throw new ServiceError('forbidden', 'Only a key with the role admin may see reference answers.')
  }
}

function assertRunAllowed(caller: Caller, run: unknown): void {
  if (typeof run === 'string' && !canAccessRun(caller, run)) {
    throw new ServiceError(
      'forbidden',
      `This API key may not access the run ${run.slice(0, 100)}. Use a key that is bound to it, or an unbound key.`,
    )
  }
}

function getField(part: unknown, name: string): unknown {
  return typeof part === 'object' && part !== null ? Reflect.get(part, name) : undefined
}
