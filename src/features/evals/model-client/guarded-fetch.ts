/**
 * fetch for addresses that a client chose: judged after DNS, at the moment of connecting, so that no name can change in
 * between; redirects are refused and answers bounded.
 */
import { lookup as dnsLookup, type LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector, type RequestInit, fetch as undiciFetch } from 'undici'
import { ServiceError } from '../../../contract/errors.ts'
import { type EgressPolicy, getDenialReason } from './egress-policy.ts'

const CONNECT_TIMEOUT_MS = 10_000
const DNS_TIMEOUT_MS = 5_000
/** Most bytes of one answer, unpacked: far more than a long completion with logprobs has. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024
const MAX_CONNECTIONS_PER_ORIGIN = 256

/** A call that must not be made; asking again does not help. */
export class BlockedRequestError extends Error {}

export interface GuardedFetch {
  fetch: typeof globalThis.fetch
  close(): Promise<void>
}

export function createGuardedFetch(reach: EgressPolicy): GuardedFetch {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: createGuardedLookup(reach) })
  const agent = new Agent({
    connect(options, callback) {
      // Node looks up names only: an address that is written out is judged here.
      const host = stripBrackets(options.hostname)
      const refusal = isIP(host) ? getDenialReason(host, host, reach) : undefined
      if (refusal !== undefined) return callback(new BlockedRequestError(refusal), null)
      connect(options, callback)
    },
    connections: MAX_CONNECTIONS_PER_ORIGIN,
    headersTimeout: 0, // the caller's signal is the deadline
    bodyTimeout: 0,
  })
  const call = async (input: string | URL | Request, init?: object) => {
    const url = input instanceof Request ? input.url : input
    const options = { ...init, dispatcher: agent, redirect: 'manual' } as RequestInit // undici's and Node's differ in name only
    const response = await undiciFetch(url, options)
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel()
      throw new BlockedRequestError(`it redirects (HTTP ${response.status}), and redirects are not followed`)
    }
    const { status, statusText, headers } = response
    const body = response.body?.pipeThrough(createByteLimitStream())
    return new Response(body as ReadableStream<Uint8Array> | undefined, { status, statusText, headers: [...headers] })
  }
  return { fetch: call, close: () => agent.destroy() }
}

/** Throws `invalid_request` unless the URL is one that may be called now; every later call is judged again. */
export async function assertModelUrlAllowed(url: string, reach: EgressPolicy): Promise<void> {
  const { hostname, protocol, username, password } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') throw invalidBaseUrlError('must be http or https')
  if (username || password) throw invalidBaseUrlError('must not hold credentials: send them as api_key')
  if (/[?#]/.test(url)) throw invalidBaseUrlError('must not have a query or a fragment') // an empty one would take the path in, too
  const host = stripBrackets(hostname)
  const addresses = isIP(host) ? [host] : await resolveAddresses(host)
  for (const address of addresses) {
    const refusal = getDenialReason(address, host, reach)
    if (refusal !== undefined) throw invalidBaseUrlError(refusal)
  }
}

async function resolveAddresses(host: string): Promise<string[]> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('no answer')), DNS_TIMEOUT_MS)
  try {
    return (await Promise.race([lookup(host, { all: true }), late])).map(({ address }) => address)
  } catch {
    throw invalidBaseUrlError(`the name ${host} cannot be resolved`)
  } finally {
    clearTimeout(timer)
  }
}

function createGuardedLookup(reach: EgressPolicy): LookupFunction {
  return (host, options, callback) => {
    dnsLookup(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, [])
      for (const { address } of addresses) {
        const refusal = getDenialReason(address, host, reach)
        if (refusal !== undefined) return callback(new BlockedRequestError(refusal), [])
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
        controller.error(new BlockedRequestError(`its answer is over ${MAX_RESPONSE_BYTES} bytes`))
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
