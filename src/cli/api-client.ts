/** The server that a command speaks to: the one that is named, the one that runs here, or one of its own. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { z } from 'zod'
import { startChildServer } from '../main/bootstrap/child-server.ts'
import { readConfig, type ServerConfig } from '../platform/config.ts'
import { createBodyError, createConnectionError, createResponseError } from './api-errors.ts'
import { CliError } from './cli-error.ts'
import { getInterruptSignal } from './interrupt-signal.ts'
import { printStatus } from './output.ts'

export interface ServerOptions {
  url?: string
  key?: string
}

const PROBE_TIMEOUT_MS = 2000
const RETRY_LIMIT = 10

export function addServerOptions(command: Command): Command {
  return command
    .option(
      '--url <url>',
      'the server to call (SERVER_URL); else the one at HOST:PORT, else one is started for this command',
    )
    .option('--key <key>', 'the key to call it with (SERVER_API_KEY)')
}

/** What a command asks of a server that is started for it. */
interface ServerRequirements {
  /** What it does shall stay, in DATA_DIR. */
  keeps?: boolean
  env?: Record<string, string>
}

/** Gives `use` a server. One that is started for it ends with it. */
export async function withServer<T>(
  options: ServerOptions,
  { keeps = false, env = {} }: ServerRequirements,
  use: (server: ApiClient) => Promise<T>,
): Promise<T> {
  const config = readConfig()
  const { url: named, key: given } = getConfiguredServer(options, config)
  if (named !== undefined) return use(new ApiClient(named, given))
  const here = getLocalUrl(config)
  if (await isServerRunning(here)) return use(new ApiClient(here, given))
  printStatus(`No server answers at ${here}: starting one for this command …`)
  const { ensurePythonEnvironment } = await import('../main/bootstrap/python-environment.ts')
  await ensurePythonEnvironment(printStatus, config.PYTHON) // here, where its minutes are seen and no deadline ends it
  const own = await startChildServer({ ...buildServerEnv(config, keeps), ...env }, getInterruptSignal())
  try {
    return await use(new ApiClient(own.url))
  } finally {
    await own.stop()
  }
}

/** What the options name, else the settings. */
export function getConfiguredServer({ url, key }: ServerOptions, { SERVER_URL, SERVER_API_KEY }: ServerConfig) {
  return { url: url ?? SERVER_URL, key: key ?? SERVER_API_KEY }
}

/** Alone on loopback, without keys, in one process of each kind. */
function buildServerEnv({ DATA_DIR }: ServerConfig, keeps: boolean): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    API_KEYS: '',
    API_KEYS_FILE: '',
    API_PROCESSES: '1',
    WORKERS: '1',
    ...(keeps && { DATA_DIR }),
  }
}

export function getLocalUrl({ HOST, PORT }: Pick<ServerConfig, 'HOST' | 'PORT'>): string {
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`
}

/** Whether a server of ours is there. */
export async function isServerRunning(url: string): Promise<boolean> {
  const response = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).catch(() => undefined)
  const body: unknown = response?.ok ? await response.json().catch(() => undefined) : undefined
  return z.object({ status: z.literal('alive') }).safeParse(body).success
}

export class ApiClient {
  readonly url: string
  readonly #key: string | undefined

  constructor(url: string, key?: string) {
    this.url = url.replace(/\/$/, '')
    this.#key = key
  }

  /** The answer as it comes. Throws a Failure for all that is not 2xx. */
  async request(method: string, path: string, body?: unknown, signal = getInterruptSignal()): Promise<Response> {
    const response = await this.#fetch(method, path, body, signal)
    if (response.ok) return response
    throw await createResponseError(response, this.#formatCall(method, path))
  }

  /** `signal`: by default the user's Ctrl-C. */
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

  /** The same call, retried a few times if the response has Retry-After (429, 503, passing conflicts). */
  async callWithRetry<Schema extends z.ZodType>(schema: Schema, method: string, path: string, body?: unknown) {
    const [named, signal] = [this.#formatCall(method, path), getInterruptSignal()]
    for (let tries = 1; ; tries++) {
      const response = await this.#fetch(method, path, body, signal)
      if (response.ok) return this.#readBody(schema, response, named, signal)
      const waitS = Number(response.headers.get('retry-after') ?? Number.NaN)
      const failure = await createResponseError(response, named)
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
  throw new CliError(`The server answers in a way that this version does not understand: ${reasons}`)
}
