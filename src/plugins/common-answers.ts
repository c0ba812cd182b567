/** What any route can answer stands in its description without being written there: refusals at the door, bad bodies. */
import type { FastifyInstance, RouteOptions } from 'fastify'
import { FAULTS, type FaultCode } from '../faults.ts'
import { Problem } from '../words/problem.ts'
import { rowOf } from './access.ts'

const AT_THE_DOOR: FaultCode[] = ['unauthorized', 'forbidden', 'rate_limited']
const OF_A_BODY: FaultCode[] = ['invalid_request', 'invalid_json', 'body_too_large', 'unsupported_media_type']

/** Must come before the plugin that collects the routes for the document. */
export function addCommonAnswers(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { schema } = route
    if (!schema || schema.hide) return
    const row = rowOf([route.method].flat()[0] ?? '', route.url)
    const roles = row?.roles ?? ['admin']
    if (roles !== 'anyone') {
      schema.security = [{ bearer: [] }, { api_key: [] }, {}]
      schema.description = [schema.description, `Where keys are set, for: ${roles.join(', ')}.`]
        .filter(Boolean)
        .join(' ')
      declare(schema, AT_THE_DOOR)
    }
    if (schema.params || schema.querystring) declare(schema, ['invalid_request'])
    if (schema.body) declare(schema, OF_A_BODY)
  })
}

function declare(schema: NonNullable<RouteOptions['schema']>, codes: FaultCode[]): void {
  const response = { ...(schema.response as Record<number, typeof Problem> | undefined) } // the routes write it so
  for (const code of codes) {
    const { status } = FAULTS[code]
    const known = response[status]?.description ?? ''
    if (known.includes(`\`${code}\``)) continue
    response[status] = Problem.describe([known, `\`${code}\``].filter(Boolean).join(', '))
  }
  schema.response = response
}
