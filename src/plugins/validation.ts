/** zod at the edge: what comes in has the documented shape, or is refused with every field named. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Fault, type FaultCode } from '../faults.ts'
import { GIVEN_NAMES } from '../words/problem.ts'
import { fieldErrors, wording } from './field-errors.ts'

/** Reads what is plain at a glance, exactly as the schema would; undefined for all else, right or wrong. */
type Pass = (value: unknown) => object | undefined
const PASSES = new WeakMap<z.ZodType, Pass>()

/** A schema for what comes by the thousand: zod takes as long over it as scoring does. */
export function withPass<Schema extends z.ZodType>(schema: Schema, pass: Pass): Schema {
  PASSES.set(schema, pass)
  return schema
}

const NO_QUERY = z.strictObject({})
/** For probes and scrapers, which lengthen an address as they like (`?t=…`): refused, they would take the server for dead. */
export const ANY_QUERY = z.looseObject({})

export function addValidation(app: FastifyInstance): void {
  // A route that says nothing of a query takes none: a field that belongs into the body would be passed over in silence.
  app.addHook('onRoute', ({ schema }) => {
    if (schema && !schema.hide) schema.querystring ??= NO_QUERY
  })
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (value) => {
    const plain = PASSES.get(schema)?.(value)
    if (plain) return { value: plain }
    const parsed = schema.safeParse(value ?? (httpPart === 'body' ? undefined : {}), { error: wording })
    if (parsed.success) return { value: parsed.data }
    return { error: refusal(parsed.error, httpPart ?? 'body', unknownName(schema, parsed.error, httpPart)) }
  })
  // Answers are made of checked parts; test/routes holds them to their schemas, which cost too much on every answer.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value))
}

/** The code of an address whose first mistake is a name that the server cannot have given. */
function unknownName(schema: z.ZodType, { issues }: z.ZodError, part: string | undefined): FaultCode | undefined {
  const field = String(issues[0]?.path[0])
  if (part === 'body' || !(schema instanceof z.ZodObject)) return undefined
  const { [field]: name } = schema.shape as Record<string, z.ZodType>
  return issues[0]?.code === 'invalid_format' && name ? GIVEN_NAMES.get(name)?.unknown : undefined
}

function refusal(error: z.ZodError, part: string, code: FaultCode = 'invalid_request'): Fault {
  const errors = error.issues.flatMap((issue) => fieldErrors(issue, part))
  const [first] = errors
  return new Fault(code, first ? `${first.path}: ${first.message}` : 'The request cannot be read', {
    errors,
  })
}
