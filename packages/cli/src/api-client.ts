/** Calls the server, and parses what it answers. */
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { createBodyError, createConnectionError, createResponseError } from './api-errors.ts'
import { CliError } from './cli-error.ts'
import { getInterruptSignal } from './interrupt-signal.ts'
import { makeTolerant } from './tolerant-schema.ts'

const RETRY_LIMIT = 10

export class ApiClient {
  readonly url: string
  /** Whether the server stops when the command ends. */
  readonly isTemporary: boolean
  readonly #key: string | undefined

  constructor(url: string, key?: string, isTemporary = false) {
    this.url = url.replace(/\/$/, '')
    this.isTemporary = isTemporary
    this.#key = key
  }

  /** Returns the unread response. Throws a CliError for every status that is not 2xx. */
  async request(method: string, path: string, body?: unknown, signal = getInterruptSignal()): Promise<Response> {
    const response = await this.#fetch(method, path, body, signal)
    if (response.ok) return response
    throw await createResponseError(response, { call: this.#formatCall(method, path), method, path, body })
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

  /** Like `call`, but retries up to 10 times when the response has Retry-After (429, 503, transient conflicts). */
  async callWithRetry<Schema extends z.ZodType>(schema: Schema, method: string, path: string, body?: unknown) {
    const named = this.#formatCall(method, path)
    const signal = getInterruptSignal()
    for (let tries = 1; ; tries++) {
      const response = await this.#fetch(method, path, body, signal)
      if (response.ok) return this.#readBody(schema, response, named, signal)
      const waitS = Number(response.headers.get('retry-after') ?? Number.NaN)
      const failure = await createResponseError(response, { call: named, method, path, body })
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

  async #fetch(method: string, path: string, body: unknown, signal: AbortSignal): Promise<Response> {
    try {
      return await fetch(this.url + path, {
        method,
        headers: {
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
