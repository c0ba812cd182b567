/**
 * Fetches URLs that a client chose. The address is checked after DNS resolution, when the connection is opened, so that
 * a name cannot resolve to another address in between. Redirects are rejected and the size of a response is limited.
 */
import { lookup as dnsLookup, type LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { Agent, buildConnector, type RequestInit, fetch as undiciFetch } from 'undici'
import { type EgressPolicy, getDenialReason } from './egress-policy.ts'

const CONNECT_TIMEOUT_MS = 10_000
const DNS_TIMEOUT_MS = 5_000
/** Limit for one decompressed response, far more than a long completion with logprobs needs. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024
const MAX_CONNECTIONS_PER_ORIGIN = 256

/** Signals a request that the server must not make; retrying does not help. */
export class BlockedRequestError extends Error {}
/** Signals that this applies to every request to the model. */
export class UncallableModelError extends BlockedRequestError {}

export interface GuardedFetch {
  fetch: typeof globalThis.fetch
  close(): Promise<void>
}

export function createGuardedFetch(policy: EgressPolicy): GuardedFetch {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: createGuardedLookup(policy) })
  const agent = new Agent({
    connect(options, callback) {
      // Node calls `lookup` for names only, so a literal address is checked here.
      const host = stripBrackets(options.hostname)
      const denial = isIP(host) ? getDenialReason(host, host, policy) : undefined
      if (denial !== undefined) return callback(new UncallableModelError(denial), null)
      connect(options, callback)
    },
    connections: MAX_CONNECTIONS_PER_ORIGIN,
    headersTimeout: 0, // the caller's signal is the deadline
    bodyTimeout: 0,
  })
  const guardedFetch = async (input: string | URL | Request, init?: object) => {
    const url = input instanceof Request ? input.url : input
    // undici's type and Node's differ only in name
    const options = { ...init, dispatcher: agent, redirect: 'manual' } as RequestInit
    const response = await undiciFetch(url, options)
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel()
      throw new UncallableModelError(
        `the model's server redirects (HTTP ${response.status}), and redirects are not followed`,
      )
    }
    const { status, statusText, headers } = response
    const body = response.body?.pipeThrough(createByteLimitStream())
    return new Response(body as ReadableStream<Uint8Array> | undefined, { status, statusText, headers: [...headers] })
  }
  return { fetch: guardedFetch, close: () => agent.destroy() }
}

/** Throws `invalid_request` unless the URL may be called now. Every later request is checked again. */
export async function assertModelUrlAllowed(url: string, policy: EgressPolicy): Promise<void> {
  const { hostname, protocol, username, password } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') throw invalidBaseUrlError('must be http or https')
  if (username || password) throw invalidBaseUrlError('must not contain credentials: send them as api_key')
  // even an empty query would swallow the path that the client appends
  if (/[?#]/.test(url)) throw invalidBaseUrlError('must not have a query or a fragment')
  const host = stripBrackets(hostname)
  const addresses = isIP(host) ? [host] : await resolveAddresses(host)
  for (const address of addresses) {
    const denial = getDenialReason(address, host, policy)
    if (denial !== undefined) throw invalidBaseUrlError(denial)
  }
}

async function resolveAddresses(host: string): Promise<string[]> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('DNS timeout')), DNS_TIMEOUT_MS)
  try {
    return (await Promise.race([lookup(host, { all: true }), timeout])).map(({ address }) => address)
  } catch {
    throw invalidBaseUrlError(`the host name ${host} cannot be resolved`)
  } finally {
    clearTimeout(timer)
  }
}

function createGuardedLookup(policy: EgressPolicy): LookupFunction {
  return (host, options, callback) => {
    dnsLookup(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, [])
      for (const { address } of addresses) {
        const denial = getDenialReason(address, host, policy)
        if (denial !== undefined) return callback(new UncallableModelError(denial), [])
      }
      const [first] = addresses
      if (options.all || !first) return callback(null, addresses)
      callback(null, first.address, first.family)
    })
  }
}

function createByteLimitStream(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes > MAX_RESPONSE_BYTES)
        controller.error(new BlockedRequestError(`the response is over ${MAX_RESPONSE_BYTES} bytes`))
      else controller.enqueue(chunk)
    },
  })
}

function stripBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function invalidBaseUrlError(reason: string): ServiceError {
  return new ServiceError('invalid_request', `model.base_url: ${reason}`, {
    errors: [{ path: 'model.base_url', message: reason }],
  })
}
