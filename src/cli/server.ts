/** The server that a command speaks to: the one that is named, the one that runs here, or one of its own. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { z } from 'zod'
import { type Config, readConfig } from '../config.ts'
import { startServer } from '../prepare/own-server.ts'
import { connectionFailure, readingFailure, refusal } from './call-failures.ts'
import { Failure } from './failure.ts'
import { interruption } from './interrupt.ts'
import { tell } from './output.ts'

export interface ServerOptions {
  url?: string
  key?: string
}

const LOOK_MS = 2000
const TRIES = 10

export function addServerOptions(command: Command): Command {
  return command
    .option(
      '--url <url>',
      'the server to call (SERVER_URL); else the one at HOST:PORT, else one is started for this command',
    )
    .option('--key <key>', 'the key to call it with (SERVER_KEY)')
}

/** What a command asks of a server that is started for it. */
interface Needs {
  /** What it does shall stay, in DATA_DIR. */
  keeps?: boolean
  env?: Record<string, string>
}

/** Gives `use` a server. One that is started for it ends with it. */
export async function withServer<T>(
  options: ServerOptions,
  { keeps = false, env = {} }: Needs,
  use: (server: Server) => Promise<T>,
): Promise<T> {
  const config = readConfig()
  const { url: named, key: given } = namedServer(options, config)
  if (named !== undefined) return use(new Server(named, given))
  const here = hereOf(config)
  if (await answers(here)) return use(new Server(here, given))
  tell(`No server answers at ${here}: starting one for this command …`)
  const own = await startServer({ ...settingsOf(config, keeps), ...env }, interruption())
  try {
    return await use(new Server(own.url))
  } finally {
    await own.stop()
  }
}

/** What the options name, else the settings. */
export function namedServer({ url, key }: ServerOptions, { SERVER_URL, SERVER_KEY }: Config) {
  return { url: url ?? SERVER_URL, key: key ?? SERVER_KEY }
}

/** Alone on loopback, without keys, in one process of each kind. */
function settingsOf({ DATA_DIR }: Config, keeps: boolean): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    API_KEYS: '',
    API_KEYS_FILE: '',
    API_PROCESSES: '1',
    WORKERS: '1',
    ...(keeps && { DATA_DIR }),
  }
}

export function hereOf({ HOST, PORT }: Pick<Config, 'HOST' | 'PORT'>): string {
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`
}

/** Whether a server of ours is there. */
export async function answers(url: string): Promise<boolean> {
  const response = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(LOOK_MS) }).catch(() => undefined)
  const body: unknown = response?.ok ? await response.json().catch(() => undefined) : undefined
  return z.object({ status: z.literal('alive') }).safeParse(body).success
}

export class Server {
  readonly url: string
  readonly #key: string | undefined

  constructor(url: string, key?: string) {
    this.url = url.replace(/\/$/, '')
    this.#key = key
  }

  /** The answer as it comes. Throws a Failure for all that is not 2xx. */
  async open(method: string, path: string, body?: unknown, signal = interruption()): Promise<Response> {
    const response = await this.#fetch(method, path, body, signal)
    if (response.ok) return response
    throw await refusal(response, this.#named(method, path))
  }

  /** `signal`: by default the user's Ctrl-C. */
  async call<Schema extends z.ZodType>(
    schema: Schema,
    method: string,
    path: string,
    body?: unknown,
    signal = interruption(),
  ) {
    return this.#read(schema, await this.open(method, path, body, signal), this.#named(method, path), signal)
  }

  /** The same, asked again for a while where the server says "not yet" (429, 503). */
  async insist<Schema extends z.ZodType>(schema: Schema, method: string, path: string, body?: unknown) {
    const [named, signal] = [this.#named(method, path), interruption()]
    for (let tries = 1; ; tries++) {
      const response = await this.#fetch(method, path, body, signal)
      if (response.ok) return this.#read(schema, response, named, signal)
      const waitS = Number(response.headers.get('retry-after') ?? Number.NaN)
      const failure = await refusal(response, named)
      if (Number.isNaN(waitS) || tries === TRIES) throw failure
      await sleep(waitS * 1000, undefined, { signal })
    }
  }

  async #read<Schema extends z.ZodType>(schema: Schema, response: Response, named: string, signal: AbortSignal) {
    const answer: unknown = await response.json().catch((cause: unknown) => {
      signal.throwIfAborted()
      throw readingFailure(cause, named)
    })
    return understood(schema, answer)
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
      throw connectionFailure(cause, this.url)
    }
  }

  #named(method: string, path: string): string {
    return `${method} ${this.url}${path}`
  }
}

function understood<Schema extends z.ZodType>(schema: Schema, answer: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(answer)
  if (parsed.success) return parsed.data
  const reasons = z
    .prettifyError(parsed.error)
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
  throw new Failure(`The server answers in a way that this version does not understand: ${reasons}`)
}
