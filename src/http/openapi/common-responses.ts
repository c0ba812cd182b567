/** Adds to each route's schema what every route of its kind can answer: access errors and body errors. */

import { ApiKeyRole } from '@reasoning-gym-server/contract/caller'
import type { ErrorCode } from '@reasoning-gym-server/contract/errors'
import { Problem } from '@reasoning-gym-server/contract/problem'
import type { RouteOptions } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { z } from 'zod'
import { getAccessRule } from '../auth/permissions.ts'
import { ERROR_TABLE } from '../errors/error-table.ts'

const ACCESS_ERROR_CODES: ErrorCode[] = ['unauthorized', 'forbidden', 'rate_limited', 'server_busy']
const BODY_ERROR_CODES: ErrorCode[] = [
  'invalid_request',
  'invalid_json',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
]

type RouteSchema = NonNullable<RouteOptions['schema']>

/** Must come before the plugin that collects the routes for the document. */
export const commonResponses = fastifyPlugin(
  async (app) => {
    app.addHook('onRoute', (route) => {
      const { schema } = route
      if (!schema || schema.hide) return
      const codes: ErrorCode[] = []
      const roles = getAccessRule([route.method].flat()[0] ?? '', route.url)?.roles ?? ['admin']
      if (roles !== 'anyone') {
        const who = `Required role: ${formatRoles(roles)}.`
        // A route's HEAD shares its schema.
        if (!schema.description?.endsWith(who)) schema.description = [schema.description, who].filter(Boolean).join(' ')
        codes.push(...ACCESS_ERROR_CODES)
      } else schema.security = []
      if (schema.params || schema.querystring) codes.push('invalid_request')
      if (schema.body) codes.push(...BODY_ERROR_CODES)
      schema.response = mergeResponses(schema.response as ResponseSchemas | undefined, codes) // the routes write it so
    })
  },
  { name: 'common-responses' },
)

/** Of every operation that does not say otherwise; the last one stands for servers without keys. */
export const SECURITY = [{ bearer: [] }, { api_key: [] }, { basic: [] }, {}]

/** Without `admin`, which may make every call, as the head of the document says. */
function formatRoles(roles: readonly string[]): string {
  const quoted = roles.filter((role) => role !== 'admin').map((role) => `\`${role}\``)
  if (quoted.length === ApiKeyRole.options.length - 1) return 'any'
  const last = quoted.pop() ?? '`admin`'
  return quoted.length > 0 ? `${quoted.join(', ')} or ${last}` : last
}

type ResponseSchemas = Record<number, z.ZodType>

function mergeResponses(answers: ResponseSchemas = {}, codes: ErrorCode[]): RouteSchema['response'] {
  const all = { ...answers }
  for (const code of codes) {
    const { status } = ERROR_TABLE[code]
    const known = all[status]?.description ?? ''
    if (!known.includes(`\`${code}\``))
      all[status] = Problem.describe([known, `\`${code}\``].filter(Boolean).join(', '))
  }
  return Object.fromEntries(
    Object.entries(all).map(([status, schema]) => [
      status,
      isProblemSchema(schema) ? toProblemResponse(schema) : schema,
    ]),
  )
}

function isProblemSchema(schema: z.ZodType): boolean {
  return schema instanceof z.ZodObject && schema.shape.code === Problem.shape.code
}

/** With the media type that it is sent as. The schema's description names the codes, so it becomes the response's. */
function toProblemResponse(schema: z.ZodType) {
  return { description: schema.description ?? '', content: { 'application/problem+json': { schema: Problem } } }
}
