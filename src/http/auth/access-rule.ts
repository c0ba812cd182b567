/** The access rule of a route: who may call it, and where a call names its run. Derived from what the route declares. */

import type { ApiKeyRole } from '@reasoning-gym-server/contract/caller'
import type { FastifyContextConfig, RouteOptions } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { z } from 'zod'
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

/** A part of a request whose schema has a field `run`. */
export type RunPlace = 'params' | 'query' | 'body'

export interface AccessRule {
  roles: readonly ApiKeyRole[] | 'anyone'
  /** Where a call may name its run. A `run` elsewhere is no part of the call, and opens nothing. */
  runPlaces: readonly RunPlace[]
  /** Run of a call that names none. */
  defaultRun: string | undefined
  requiresRunForBoundKey: boolean
  adminQuery: string | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call the route. A key that is bound to runs can only access those, wherever the route's schemas have a `run`. */
    access?: Access
    /** The run of a call that names none, if the schemas have no default for it. */
    defaultRun?: string
    /** The route spans all runs: a bound key must name one of its runs. */
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
export function readAccessRule(route: RouteOptions, defaultAccess: Access | null): AccessRule {
  const name = `${[route.method].flat().join(', ')} ${route.url}`
  const config: FastifyContextConfig = route.config ?? {}
  const { access = defaultAccess, defaultRun, requiresRunForBoundKey = false, adminQuery } = config
  if (access === null) throw new Error(`${name} does not say who may call it: add config.access`)
  const runPlaces = listRunPlaces(route, config)
  if (requiresRunForBoundKey && runPlaces.length === 0)
    throw new Error(`${name} requires a run, but none of its schemas has a field run`)
  return { roles: ROLES[access], runPlaces, defaultRun, requiresRunForBoundKey, adminQuery }
}

export function isRoleAllowed(role: ApiKeyRole | null, roles: AccessRule['roles']): boolean {
  return roles === 'anyone' || (role !== null && roles.includes(role))
}

function listRunPlaces({ url, schema }: RouteOptions, { ignoresBodyRun }: FastifyContextConfig): RunPlace[] {
  const places: RunPlace[] = []
  if (url.split('/').includes(':run')) places.push('params')
  if (hasField(schema?.querystring, 'run')) places.push('query')
  if (!ignoresBodyRun && hasField(schema?.body, 'run')) places.push('body')
  return places
}

/** Whether a value that the schema accepts may have the field, in any of the forms that the schema allows. */
function hasField(schema: unknown, name: string): boolean {
  if (schema instanceof z.ZodObject) return name in schema.shape
  if (schema instanceof z.ZodUnion) return schema.options.some((option) => hasField(option, name))
  if (schema instanceof z.ZodPipe) return hasField(schema.in, name)
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return hasField(schema.unwrap(), name)
  return false
}
