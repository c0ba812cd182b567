/**
 * Checks each request against the access rule of its route (access-rule.ts): the role, and the run in path and query, before a
 * body is read, and the run of the body once it is parsed. The API document lists the roles of each call.
 */

import { type Caller, canAccessRun } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { type AccessRule, isRoleAllowed, type RunPlace, readAccessRule } from './access-rule.ts'
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
      if (rule.roles === 'anyone') return
      const earlyPlaces = rule.runPlaces.filter((place) => place !== 'body')
      route.onRequest = [
        (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
          assertRoleAllowed(request, reply, rule)
          assertRunsAllowed(request, earlyPlaces)
          done()
        },
        ...[route.onRequest ?? []].flat(),
      ]
      route.preHandler = [
        (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
          assertCallAllowed(request, rule)
          done()
        },
        ...[route.preHandler ?? []].flat(),
      ]
    })
  },
  { name: 'authorization', dependencies: ['authentication', 'rate-limit', 'request-admission'] },
)

function assertRoleAllowed(request: FastifyRequest, reply: FastifyReply, rule: AccessRule): void {
  const { caller, headers } = request
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
  if (!isRoleAllowed(caller.role, rule.roles)) {
    throw new ServiceError(
      'forbidden',
      `A key with the role ${caller.role} may not make this call. Required role: ${[rule.roles].flat().join(' or ')}.`,
    )
  }
}

/** Runs once params, query and body are parsed. */
function assertCallAllowed(request: FastifyRequest, rule: AccessRule): void {
  const { caller, query } = request
  if (caller.runs && !assertRunsAllowed(request, rule.runPlaces)) {
    if (rule.defaultRun !== undefined) assertRunAllowed(caller, rule.defaultRun)
    if (rule.requiresRunForBoundKey)
      throw new ServiceError(
        'forbidden',
        `This API key is bound to runs. Name one of them as run: ${[...caller.runs].join(', ')}.`,
      )
  }
  if (rule.adminQuery !== undefined && caller.role !== 'admin' && getField(query, rule.adminQuery) === true) {
    throw new ServiceError(
      'forbidden',
      'Only a key with the role admin may see reference answers. Use one, or leave out `reveal`.',
    )
  }
}

/** Returns whether the call names a run in one of the places. */
function assertRunsAllowed(request: FastifyRequest, places: readonly RunPlace[]): boolean {
  let namesRun = false
  for (const place of places) {
    const run = getField(request[place], 'run')
    if (run === undefined) continue
    namesRun = true
    assertRunAllowed(request.caller, run)
  }
  return namesRun
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
