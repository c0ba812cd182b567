/** Calls the server, and turns what it answers into values or into errors of one line that say what to do. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem as ProblemDocument } from '@reasoning-gym-server/contract/errors'
import { z } from 'zod'
import { CliError, type Problem } from './cli-error.ts'
import { getInterruptSignal } from './interrupt-signal.ts'

const RETRY_LIMIT = 10
/** Schemas of the contract with their tolerant forms. */
const TOLERANT = new WeakMap<z.core.$ZodType, z.ZodType>()

export class ApiClient {
  readonly url: string
  /** Whether the server stops when the command ends. */
  readonly isTemporary: boolean
  /** The server options that the user gave, as another command takes them. */
  readonly options: string
  readonly #key: string | undefined

  constructor(url: string, key?: string, { isTemporary = false, options = '' } = {}) {
    this.url = url.replace(/\/$/, '')
    this.isTemporary = isTemporary
    this.options = options
    this.#key = key
  }

  /** Returns the unread response. Throws a CliError for every status that is not 2xx. */
  async request(method: string, path: string, body?: unknown, signal = getInterruptSignal()): Promise<Response> {
    const response = await this.#fetch(method, path, body, signal)
    if (response.ok) return response
    throw await createResponseError(response, { call: this.#formatCall(method, path), method, path })
  }

  /** Returns the parsed response. `signal` defaults to the user's Ctrl-C. */
  async call<Schema extends z.ZodType>(
    schema: Schema,
    method: string,
    path: string,
    body?: unknown,
    signal = getInterruptSignal(),
  ) {
    return this.#readBody(
      schema,
      await this.request(method, path, body, signal),
      this.#formatCall(method, path),
      signal,
    )
  }

  /**
   * Like `call`, but retries up to 10 times when the response has Retry-After (429, 503, transient conflicts). A call that the
   * server completed in spite of a 503 counts once.
   */
  async callWithRetry<Schema extends z.ZodType>(schema: Schema, method: string, path: string, body?: unknown) {
    const named = this.#formatCall(method, path)
    const signal = getInterruptSignal()
    const once = method === 'POST' ? { 'idempotency-key': randomUUID() } : {}
    for (let tries = 1; ; tries++) {
      const response = await this.#fetch(method, path, body, signal, once)
      if (response.ok) return this.#readBody(schema, response, named, signal)
      const waitS = Number(response.headers.get('retry-after') ?? Number.NaN)
      const failure = await createResponseError(response, { call: named, method, path })
      if (Number.isNaN(waitS) || tries === RETRY_LIMIT) throw failure
      await sleep(waitS * 1000, undefined, { signal })
    }
  }

  async #readBody<Schema extends z.ZodType>(schema: Schema, response: Response, named: string, signal: AbortSignal) {
    const answer: unknown = await response.json().catch((cause: unknown) => {
      signal.throwIfAborted()
      throw createBodyError(cause, named)
    })
    return parseResponse(schema, answer)
  }

  async #fetch(method: string, path: string, body: unknown, signal: AbortSignal, headers = {}): Promise<Response> {
    try {
      return await fetch(this.url + path, {
        method,
        headers: {
          ...headers,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(this.#key !== undefined && { authorization: `Bearer ${this.#key}` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal,
      })
    } catch (cause) {
      signal.throwIfAborted()
      throw createConnectionError(cause, this.url)
    }
  }

  #formatCall(method: string, path: string): string {
    return `${method} ${this.url}${path}`
  }
}

function parseResponse<Schema extends z.ZodType>(schema: Schema, answer: unknown): z.infer<Schema> {
  const parsed = makeTolerant(schema).safeParse(answer)
  if (parsed.success) return parsed.data
  const reasons = z
    .prettifyError(parsed.error)
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
  throw new CliError(`This version of the command line does not understand the server’s response: ${reasons}`)
}

const Rejection = makeTolerant(ProblemDocument.pick({ code: true, detail: true, errors: true, kind: true, name: true }))

/** Error codes of Node, its resolver and undici for an unreachable server or a broken connection, such as during a restart. */
const CONNECTION_ERROR_CODE =
  /^(?:E(?:AI_AGAIN|CONN\w+|HOST\w+|NET\w+|NOTFOUND|PIPE|TIMEDOUT)|UND_ERR_(?:\w+_TIMEOUT|SOCKET))$/
/** Statuses of an overloaded server, or of a proxy while no server is behind it. */
const RETRYABLE_STATUSES = new Set([429, 502, 503, 504])

/** A transient conflict (`run_changed`, `idempotency_in_progress`) is a 409 with Retry-After. */
function isRetryable({ status, headers }: Response): boolean {
  return RETRYABLE_STATUSES.has(status) || (status === 409 && headers.has('retry-after'))
}

/** Converts an error that fetch threw. */
export function createConnectionError(cause: unknown, url: string): CliError {
  const reason = getRootCause(cause)
  if (CONNECTION_ERROR_CODE.test(getErrorCode(reason))) {
    const message = `No server answers at ${url}. Start one with "reasoning-gym-server serve", or set --url to another server`
    return new CliError(message, { cause, isTransient: true })
  }
  return new CliError(
    `Cannot call ${url} (${formatErrorReason(reason)}). Check that --url or REASONING_GYM_URL is the address of a reasoning-gym-server`,
    {
      cause,
    },
  )
}

/** Converts an error that reading a response body threw. */
export function createBodyError(cause: unknown, call: string): CliError {
  if (cause instanceof SyntaxError)
    return new CliError(
      `${call} returned something other than JSON. Check that --url or REASONING_GYM_URL is the address of a reasoning-gym-server`,
      { cause },
    )
  return new CliError(`${call}: the server closed the connection before the response was complete. Try again`, {
    cause,
    isTransient: true,
  })
}

/** Converts a response whose status is not 2xx. */
export async function createResponseError(
  response: Response,
  { call, ...request }: Problem['request'] & { call: string },
): Promise<CliError> {
  const isTransient = isRetryable(response)
  const problem = Rejection.safeParse(await response.json().catch(() => undefined)).data
  if (!problem)
    return new CliError(
      `${call} returned ${response.status} without an error document. Check that --url or REASONING_GYM_URL is the address of a reasoning-gym-server`,
      {
        isTransient,
      },
    )
  const { code, detail, errors: fields = [], kind, name } = problem
  const missing = kind !== undefined && name !== undefined ? { kind, name } : undefined
  return new CliError(`${detail} [${code}]`, {
    isTransient,
    problem: { code, detail, fields, request, ...(missing && { missing }) },
  })
}

function getRootCause(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? getRootCause(error.cause) : error
}

function getErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Strips the prefix and suffix that OpenSSL adds: `40FD…:error:0A00010B:SSL routines:…:wrong version number:…:77:`. */
function formatErrorReason(error: unknown): string {
  const code = getErrorCode(error)
  if (code.startsWith('ERR_SSL_')) return code.slice('ERR_SSL_'.length).replaceAll('_', ' ').toLowerCase()
  return error instanceof Error ? error.message : String(error)
}

/** Accepts what the schema accepts, other fields of its objects, and other words where it lists some. */
export function makeTolerant<Schema extends z.ZodType>(schema: Schema): z.ZodType<z.output<Schema>> {
  return loosen(schema) as z.ZodType<z.output<Schema>> // the same type, but for words that only a newer server knows
}

function loosen(schema: z.core.$ZodType): z.ZodType {
  const known = TOLERANT.get(schema)
  if (known) return known
  const loose = build(schema)
  TOLERANT.set(schema, loose)
  return loose
}

function build(schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries<z.core.$ZodType>(schema.shape)
    return z.looseObject(Object.fromEntries(fields.map(([name, field]) => [name, loosen(field)])))
  }
  if (schema instanceof z.ZodArray) return z.array(loosen(schema.element))
  if (schema instanceof z.ZodTuple) {
    const [first, ...others] = schema.def.items.map(loosen)
    return first ? z.tuple([first, ...others]) : schema
  }
  if (schema instanceof z.ZodRecord) return z.record(z.string(), loosen(schema.valueType))
  if (schema instanceof z.ZodUnion) return z.union(schema.options.map(loosen))
  if (schema instanceof z.ZodNullable) return loosen(schema.unwrap()).nullable()
  if (schema instanceof z.ZodOptional) return loosen(schema.unwrap()).optional()
  if (schema instanceof z.ZodEnum) return z.string()
  return schema as z.ZodType // every schema of zod's main entry point is one
}
