/** Access rules: which roles may call a route. Each route declares its own in `config.access`; docs/reference/access.md lists them. */

import type { ApiKeyRole } from '@reasoning-gym-server/contract/caller'
import type { FastifyContextConfig, RouteOptions } from 'fastify'
import type { App } from '../app.ts'

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
  void app.register(async (scope: App) => {
    scope.defaultAccess = access
    await addRoutes(scope)
  })
}

/** Throws for a route that declares no access, so that a forgotten rule keeps the server from starting. */
export function readAccessRule({ method, url, config = {} }: RouteOptions, defaultAccess: Access | null): AccessRule {
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

export function isRoleAllowed(role: ApiKeyRole | null, { roles }: AccessRule): boolean {
  return roles === 'anyone' || (role !== null && (roles as readonly ApiKeyRole[]).includes(role))
}
