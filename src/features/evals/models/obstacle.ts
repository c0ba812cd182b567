/**
 * Recognizes failures that no other sample of the job would escape: nothing listens at the model's address, its server
 * rejects the key, or it has no such model.
 */
import { APIError } from 'openai'
import { UncallableModelError } from './guarded-fetch.ts'

/** Signals that the model cannot be called at all. The message says why and what to do, and never contains the key. */
export class ModelUnavailableError extends Error {}

export type ModelObstacle =
  /** No connection, which can change while a server starts. */
  | { kind: 'no_connection'; why: string }
  /** The server rejects the key or the model. */
  | { kind: 'rejected'; status: 401 | 403 | 404 }
  /** The server must not or cannot be called at this address. */
  | { kind: 'blocked' }

const CONNECTION_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing accepts connections there (connection refused)',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved at the moment',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to its network',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  EPROTO: 'the TLS handshake failed: the server may expect http instead of https',
}
const CERTIFICATE_CODE = /CERT|^ERR_TLS/

/** `causes` is the error with its causes, outermost first. Returns undefined for a failure of one request. */
export function findModelObstacle(causes: readonly Error[]): ModelObstacle | undefined {
  for (const cause of causes) {
    if (cause instanceof UncallableModelError) return { kind: 'blocked' }
    if (cause instanceof APIError && (cause.status === 401 || cause.status === 403 || cause.status === 404))
      return { kind: 'rejected', status: cause.status }
    const { code } = cause as NodeJS.ErrnoException
    if (code === undefined) continue
    if (CERTIFICATE_CODE.test(code)) return { kind: 'no_connection', why: `its certificate is rejected (${code})` }
    const why = CONNECTION_FAILURES[code]
    if (why !== undefined) return { kind: 'no_connection', why }
  }
  return undefined
}

/** Says why the model cannot be called and what to do. `said` is the message of the failed request. */
export function explainModelObstacle(
  obstacle: ModelObstacle,
  { name, base_url, hasKey, said }: { name: string; base_url: string; hasKey: boolean; said: string },
): string {
  const { hostname, port, protocol } = new URL(base_url)
  const address = `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
  if (obstacle.kind === 'blocked') return `The model ${name} at ${address} cannot be called: ${said}. Correct base_url.`
  if (obstacle.kind === 'no_connection')
    return `The model ${name} cannot be reached at ${address}: ${obstacle.why}. Start its server and resume, or correct base_url.`
  if (obstacle.status === 404)
    return `The server at ${address} has no model ${name}, or no chat completions below ${base_url} (${said}). Correct the model’s name or base_url.`
  return hasKey
    ? `The server at ${address} rejects the API key (${said}). Resume with a valid key.`
    : `The server at ${address} requires an API key (${said}). Resume with a key.`
}
