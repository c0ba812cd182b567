/** What any route can answer stands in its description without being written there: refusals at the door, bad bodies. */
import type { FastifyInstance, RouteOptions } from 'fastify'
import { z } from 'zod'
import { FAULTS, type FaultCode } from '../faults.ts'
import { Problem } from '../words/problem.ts'
import { rowOf } from './access.ts'

const AT_THE_DOOR: FaultCode[] = ['unauthorized', 'forbidden', 'rate_limited']
const OF_A_BODY: FaultCode[] = ['invalid_request', 'invalid_json', 'body_too_large', 'unsupported_media_type']

type Schema = NonNullable<RouteOptions['schema']>

/** Must come before the plugin that collects the routes for the document. */
export function addCommonAnswers(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { schema } = route
    if (!schema || schema.hide) return
    const codes: FaultCode[] = []
    const roles = rowOf([route.method].flat()[0] ?? '', route.url)?.roles ?? ['admin']
    if (roles !== 'anyone') {
      schema.security = [{ bearer: [] }, { api_key: [] }, {}]
      const who = `Where keys are set, for: ${roles.join(', ')}.`
      // A route's HEAD shares its schema.
      if (!schema.description?.endsWith(who)) schema.description = [schema.description, who].filter(Boolean).join(' ')
      codes.push(...AT_THE_DOOR)
    }
    if (schema.params || schema.querystring) codes.push('invalid_request')
    if (schema.body) codes.push(...OF_A_BODY)
    schema.response = declared(schema.response as Answers | undefined, codes) // the routes write it so
  })
}

type Answers = Record<number, z.ZodType>

function declared(answers: Answers = {}, codes: FaultCode[]): Schema['response'] {
  const all = { ...answers }
  for (const code of codes) {
    const { status } = FAULTS[code]
    const known = all[status]?.description ?? ''
    if (!known.includes(`\`${code}\``))
      all[status] = Problem.describe([known, `\`${code}\``].filter(Boolean).join(', '))
  }
  return Object.fromEntries(
    Object.entries(all).map(([status, schema]) => [status, isProblem(schema) ? asProblem(schema) : schema]),
  )
}

function isProblem(schema: z.ZodType): boolean {
  return schema instanceof z.ZodObject && schema.shape.code === Problem.shape.code
}

/** With the type that it is sent as. */
function asProblem(schema: z.ZodType) {
  return { description: schema.description ?? '', content: { 'application/problem+json': { schema } } }
}
