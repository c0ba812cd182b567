/** The server that a command calls: the configured one, one that runs on this machine, or one started for the command. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { type ClientConfig, readClientConfig } from '../platform/client-environment.ts'
import { createBodyError, createConnectionError, createResponseError } from './api-errors.ts'
import { CliError } from './cli-error.ts'
import { getInterruptSignal } from './interrupt-signal.ts'
import { printStatus } from './output.ts'

export interface ServerOptions {
  url?: string | undefined
  key?: string | undefined
}

export const SERVER_OPTION_GROUP = 'Server options:'

const PROBE_TIMEOUT_MS = 2000
const RETRY_LIMIT = 10

export function addServerOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--url <url>',
        'URL of the server to call (env: REASONING_GYM_URL; default: the server at HOST:PORT, or a temporary one if none runs there)',
      ).helpGroup(SERVER_OPTION_GROUP),
    )
    .addOption(
      new Option('--key <key>', 'API key for the server (env: REASONING_GYM_API_KEY)').helpGroup(SERVER_OPTION_GROUP),
    )
}

/** Requirements of a command for a server that is started for it. */
interface ServerRequirements {
  /** Whether the server keeps its data in DATA_DIR, so that later commands find it. */
  keeps?: boolean
  /** Adds settings for that server. */
  env?: () => Promise<Record<string, string>>
}

/** Calls `use` with a server. If none is configured or running, starts one and stops it afterward. */
export async function withServer<T>(
  options: ServerOptions,
  { keeps = false, env }: ServerRequirements,
  use: (server: ApiClient) => Promise<T>,
): Promise<T> {
  const config = readClientConfig()
  const { url: named, key: given } = getConfiguredServer(options, config)
  if (named !== undefined) return useWithAdvice(new ApiClient(named, given), use)
  const here = getLocalUrl(config)
  if (await isServerRunning(here)) return useWithAdvice(new ApiClient(here, given), use)
  printStatus(`No server is running at ${here}. Starting a temporary one for this command …`)
  const { startTemporaryServer } = await import('./temporary-server.ts') // lazy: most calls need no server of their own
  const own = await startTemporaryServer({ keeps, env: (await env?.()) ?? {} })
  try {
    return await useWithAdvice(new ApiClient(own.url, undefined, true), use)
  } finally {
    await own.stop()
  }
}

/** Replaces a rejection by the server with a message in terms of the command line. */
async function useWithAdvice<T>(server: ApiClient, use: (server: ApiClient) => Promise<T>): Promise<T> {
  try {
    return await use(server)
  } catch (error) {
    if (!(error instanceof CliError) || error.problem === undefined) throw error
    const { explainProblem } = await import('./error-advice.ts') // lazy: most calls succeed
    const message = await explainProblem(error.problem, server)
    throw new CliError(message, { exitCode: error.exitCode, problem: error.problem, cause: error })
  }
}

/** The server and key from the options, or else from the environment. */
export function getConfiguredServer(
  { url, key }: ServerOptions,
  { REASONING_GYM_URL, REASONING_GYM_API_KEY }: ClientConfig,
) {
  return { url: url ?? REASONING_GYM_URL, key: key ?? REASONING_GYM_API_KEY }
}

export function getLocalUrl({ HOST, PORT }: Pick<ClientConfig, 'HOST' | 'PORT'>): string {
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`
}

/** Whether a reasoning-gym-server answers at the URL. */
export async function isServerRunning(url: string): Promise<boolean> {
  const response = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).catch(() => undefined)
  const body: unknown = response?.ok ? await response.json().catch(() => undefined) : undefined
  return z.object({ status: z.literal('alive') }).safeParse(body).success
}

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
    const [named, signal] = [this.#formatCall(method, path), getInterruptSignal()]
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
  const parsed = schema.safeParse(answer)
  if (parsed.success) return parsed.data
  const reasons = z
    .prettifyError(parsed.error)
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
  throw new CliError(`This version of the command line does not understand the server’s response: ${reasons}`)
}
