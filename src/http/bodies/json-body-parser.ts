/** Parses JSON bodies: reads bytes and decodes them once, which is 1.5 times as fast as Fastify's own parser at 16 KB. */
import { isAscii } from 'node:buffer'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import fastifyPlugin from 'fastify-plugin'
import { scan } from 'secure-json-parse'
import { assertJsonLimits, createTooDeepError, MAX_JSON_DEPTH } from './json-limits.ts'
import { readBodyBytes } from './read-body.ts'

const BYTE_ORDER_MARK = '\ufeff'
/** Smaller bodies cannot take much memory, so they are parsed first and checked afterward. */
const PRESCAN_MIN_BYTES = 64 * 1024

export const jsonBodyParser = fastifyPlugin(
  async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/json', (request, payload, done) => {
      readBodyBytes(request, payload, (error, bytes) => {
        if (error || !bytes) return done(error)
        try {
          done(null, bytes.length === 0 ? undefined : parseJsonBytes(bytes))
        } catch (parseError) {
          done(parseError as ServiceError)
        }
      })
    })
  },
  { name: 'json-body-parser', dependencies: ['request-decompression'] },
)

/** Throws `invalid_json`, also for keys that could reach a prototype: `__proto__`, and `prototype` in `constructor`. */
export function parseJsonBytes(body: Buffer): unknown {
  const large = body.length > PRESCAN_MIN_BYTES
  if (large) assertJsonLimits(body)
  const text = isAscii(body) ? body.toString('latin1') : body.toString() // most bodies are ASCII, and latin1 takes half the time
  const value = parseWithoutPrototypeKeys(text, large && !mayContainPrototypeKey(body))
  if (value === null) throw new ServiceError('invalid_request', 'The body is null. Send a JSON object.') // Fastify treats null as no body
  return value
}

function parseWithoutPrototypeKeys(text: string, isPlain: boolean): unknown {
  const value = parseJsonText(text)
  if (!isPlain && hasPrototypeKey(value, 0) && scan(value, { safe: true }) === null) {
    throw new ServiceError(
      'invalid_json',
      'The body has a forbidden key: `__proto__`, or `prototype` inside `constructor`. Rename it.',
    )
  }
  return value
}

function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
  } catch (cause) {
    throw createInvalidJsonError(text, cause)
  }
}

/** Whether the body can contain such a key at all. Avoids walking over the hundred thousand numbers of a large body. */
function mayContainPrototypeKey(body: Buffer): boolean {
  return body.includes('__proto__') || body.includes('constructor') || body.includes('\\u')
}

/** Searches the parsed value instead of the text: small bodies are mostly strings, with few fields. */
function hasPrototypeKey(value: unknown, depth: number): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (depth === MAX_JSON_DEPTH) throw createTooDeepError()
  if (Array.isArray(value)) {
    // By index: for lists of a hundred thousand tokens an iterator takes ten times as long.
    for (let k = 0; k < value.length; k++) {
      const element: unknown = value[k]
      if (typeof element === 'object' && hasPrototypeKey(element, depth + 1)) return true
    }
    return false
  }
  for (const name of Object.keys(value)) {
    if (name === '__proto__' || name === 'constructor') return true
    const field: unknown = Reflect.get(value, name)
    if (typeof field === 'object' && hasPrototypeKey(field, depth + 1)) return true
  }
  return false
}

function createInvalidJsonError(text: string, cause: unknown): ServiceError {
  const constant = /[[,:]\s*(-?Infinity|NaN)\b/.exec(text)?.[1]
  const hint = constant
    ? `${constant} is not JSON. Python's json writes it; send null, or dump with allow_nan=False to find it`
    : cause instanceof Error
      ? cause.message
      : 'The body cannot be read'
  return new ServiceError('invalid_json', hint.slice(0, 500), { cause })
}
