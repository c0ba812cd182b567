/** zod at the edge: what comes in has the documented shape, or is refused with every field named. */
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { Fault, type FieldError } from '../faults.ts'

/** Reads what is plain at a glance, exactly as the schema would; undefined for all else, right or wrong. */
type Pass = (value: unknown) => object | undefined
const PASSES = new WeakMap<z.ZodType, Pass>()

/** A schema for what comes by the thousand: zod takes as long over it as scoring does. */
export function withPass<Schema extends z.ZodType>(schema: Schema, pass: Pass): Schema {
  PASSES.set(schema, pass)
  return schema
}

export function addValidation(app: FastifyInstance): void {
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (value) => {
    const plain = PASSES.get(schema)?.(value)
    if (plain) return { value: plain }
    const parsed = schema.safeParse(value ?? (httpPart === 'body' ? undefined : {}))
    if (parsed.success) return { value: parsed.data }
    return { error: refusal(parsed.error, httpPart ?? 'body') }
  })
  // Answers are made of checked parts; test/routes holds them to their schemas, which cost too much on every answer.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value))
}

export function refusal(error: z.ZodError, part: string): Fault {
  const errors = error.issues.flatMap((issue) => fieldErrors(issue, part))
  const [first] = errors
  return new Fault('invalid_request', first ? `${first.path}: ${first.message}` : 'The request cannot be read', {
    errors,
  })
}

function fieldErrors(issue: z.core.$ZodIssue, part: string): FieldError[] {
  const at = issue.path.map(String)
  const path = (...more: string[]) => [...at, ...more].join('.') || part
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: path(key), message: 'unknown field' }))
  if (issue.code === 'invalid_union') {
    // The alternative that was meant is the one with the least against it.
    const against = issue.errors.map((branch) =>
      branch.flatMap((inner) => fieldErrors({ ...inner, path: [...issue.path, ...inner.path] }, part)),
    )
    const [least = []] = against.toSorted((a, b) => a.length - b.length)
    if (least.length > 0) return least
  }
  return [{ path: path(), message: issue.message }]
}
