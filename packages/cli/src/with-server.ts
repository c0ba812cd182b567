/** The server that a command calls: the configured one, one that runs on this machine, or one started for the command. */

import querystring from 'node:querystring'
import { type ClientConfig, readClientConfig } from '@reasoning-gym-server/contract/environment'
import { z } from 'zod'
import { ApiClient } from './api-client.ts'
import { CliError } from './cli-error.ts'
import { printStatus } from './output.ts'

export interface ServerOptions {
  url?: string | undefined
  key?: string | undefined
}

const PROBE_TIMEOUT_MS = 2000

/** Requirements of a command for a server that is started for it. */
export interface ServerRequirements {
  /** Whether the server keeps its data in DATA_DIR, so that later commands find it. */
  keeps?: boolean
  /** Hosts of models that the server may call even if they have private addresses. */
  modelHosts?: string[]
  /** Whether the server listens at the configured port, so that it can be opened in a browser. */
  usesConfiguredPort?: boolean
}

/** Starts a server on this machine. The program gives it to the commands, which know nothing of the server's code. */
export type StartServer = (requirements: ServerRequirements) => Promise<{ url: string; stop(): Promise<unknown> }>

/** Calls `use` with a server. If none is configured or running, starts one and stops it afterward. */
export type WithServer = <T>(
  options: ServerOptions,
  requirements: ServerRequirements,
  use: (server: ApiClient) => Promise<T>,
) => Promise<T>

export async function callWithServer<T>(
  startServer: StartServer,
  options: ServerOptions,
  requirements: ServerRequirements,
  use: (server: ApiClient) => Promise<T>,
): Promise<T> {
  const config = readClientConfig()
  const { url: named, key } = getConfiguredServer(options, config)
  const hasKey = options.key !== undefined || options.url?.includes('@')
  const given = `${options.url === undefined ? '' : ` --url ${named}`}${hasKey ? ' --key KEY' : ''}`
  if (named !== undefined) return useWithAdvice(new ApiClient(named, key, { options: given }), use)
  const here = getLocalUrl(config)
  if (await isServerRunning(here)) return useWithAdvice(new ApiClient(here, key, { options: given }), use)
  printStatus(`No server is running at ${here}. Starting a temporary one for this command …`)
  const own = await startServer(requirements)
  try {
    return await useWithAdvice(new ApiClient(own.url, undefined, { isTemporary: true }), use)
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

/** The server and key from the options, or else from the environment. Fetch takes no key in a URL, and messages contain the URL. */
export function getConfiguredServer(
  { url, key }: ServerOptions,
  { REASONING_GYM_URL, REASONING_GYM_API_KEY }: ClientConfig,
) {
  const given = url ?? REASONING_GYM_URL
  const [scheme = ''] = /^\w+:\/\//.exec(given ?? '') ?? []
  const rest = given?.slice(scheme.length) ?? '' // as in trainer:KEY@host:8000
  const at = rest.lastIndexOf('@', rest.search(/[/?#]|$/))
  const [, ...password] = rest.slice(0, Math.max(0, at)).split(':')
  const inUrl = password.join(':')
  const host = rest.slice(at + 1)
  const givenKey = key ?? (querystring.unescape(inUrl) || REASONING_GYM_API_KEY)
  const found = given && (scheme || 'http://') + host
  const hasKeyAsPort = found && !URL.canParse(found) && !/^[^/?#]*:\d+(?:[/?#]|$)/.test(host) // http://trainer:KEY
  if ((at >= 0 && !(key ?? inUrl)) || host.includes('@') || hasKeyAsPort)
    throw new CliError(
      'The URL of the server cannot be read: write http://trainer:KEY@host:8000, with %2F for /, or http://host:8000 and set --key or REASONING_GYM_API_KEY',
    )
  return { url: found, key: givenKey }
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
