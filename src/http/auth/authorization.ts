/**
 * Checks each request against the access rule of its route, before a body is read. Each route declares which roles may call it
 * in `config.access`; docs/reference/access.md lists the rules.
 */

import { type ApiKeyRole, type Caller, canAccessRun } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyContextConfig, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { App } from '../app.ts'
import { hasReadableKey } from './authentication.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The access rule of every route, by method and URL. */
    accessRules: ReadonlyMap<string, AccessRule>
  }
}

/** Gives each route hooks with its rule. They run before the route's own, so that a rejected request has no effect. */
export const authorization = fastifyPlugin(
  async (app) => {
    const accessRules = new Map<string, AccessRule>()
    app.decorate('accessRules', accessRules)
    app.decorate('defaultAccess', null)
    app.addHook('onRoute', function (route) {
      const rule = readAccessRule(route, this.defaultAccess)
      for (const method of [route.method].flat()) accessRules.set(`${method} ${route.url}`, rule)
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
  if (rule.adminQuery !== undefined && caller.role !== 'admin' && getField(query, rule.adminQuery) === true) {
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

/** Who may call a route, by the name that the route declares. `anyone`: no key is required. */
const ROLES = {
  anyone: 'anyone',
  readers: ['reader', 'trainer', 'evaluator', 'admin'],
  scorers: ['trainer', 'evaluator', 'admin'],
  trainers: ['trainer', 'admin'],
  evaluators: ['evaluator', 'admin'],
  admins: ['admin'],
} as const satisfies Record<string, readonly ApiKeyRole[] | 'anyone'>

export type Access = keyof typeof ROLES

export interface AccessRule {
  roles: readonly ApiKeyRole[] | 'anyone'
  requiresRunForBoundKey: boolean
  ignoresBodyRun: boolean
  adminQuery: string | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call the route. A key that is bound to runs can only access those, wherever params, query or body name a run. */
    access?: Access
    /** The route spans all runs: a bound key must name one of its runs, with `?run=` or in the body. */
    requiresRunForBoundKey?: true
    /** The run in the body names the origin of the data, not the target of the call. */
    ignoresBodyRun?: true
    /** Field of the query that only an admin may set to true. */
    adminQuery?: string
  }
  interface FastifyInstance {
    /** Access of the routes of this scope that declare none. Assign it in a scope of its own: see `addRoutesWithAccess`. */
    defaultAccess: Access | null
  }
}

/** Adds routes that share an access rule, such as those of one trainer. A route among them may still declare its own. */
export function addRoutesWithAccess(app: App, access: Access, addRoutes: (scope: App) => void | Promise<void>): void {
  const scoped = async (scope: App) => {
    scope.defaultAccess = access
    await addRoutes(scope)
  }
  // named, because Fastify compares a plugin without a name with all loaded modules
  void app.register(fastifyPlugin(scoped, { name: 'routes-with-access', encapsulate: true }))
}

/** Throws for a route that declares no access, so that a forgotten rule keeps the server from starting. */
function readAccessRule({ method, url, config = {} }: RouteOptions, defaultAccess: Access | null): AccessRule {
  const { access = defaultAccess, requiresRunForBoundKey, ignoresBodyRun, adminQuery } = config as FastifyContextConfig
  if (access === null)
    throw new Error(`${[method].flat().join(', ')} ${url} does not say who may call it: add config.access`)
  return {
    roles: ROLES[access],
    requiresRunForBoundKey: requiresRunForBoundKey ?? false,
    ignoresBodyRun: ignoresBodyRun ?? false,
    adminQuery,
  }
}

function isRoleAllowed(role: ApiKeyRole | null, { roles }: AccessRule): boolean {
  return roles === 'anyone' || (role !== null && (roles as readonly ApiKeyRole[]).includes(role))
}
