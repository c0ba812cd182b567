/**
 * Fetches URLs that a client chose. The address is checked after DNS resolution, when the connection is opened, so that
 * a name cannot resolve to another address in between. Redirects are rejected. Loaded with the first model, for its size.
 */

import { lookup as dnsLookup, type LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector, type RequestInit, fetch as undiciFetch } from 'undici'
import { type EgressPolicy, getDenialReason, stripBrackets } from './egress-policy.ts'
import { UncallableModelError } from './model-errors.ts'

const CONNECT_TIMEOUT_MS = 10_000
/** Bytes of an error message after which it is cut off. The caller limits what it reads of other responses. */
const MAX_ERROR_BYTES = 64 * 1024
const MAX_CONNECTIONS_PER_ORIGIN = 256

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
    const response = await undiciFetch(url, options).catch((error: unknown) => {
      throw isForbiddenPort(error) ? new UncallableModelError('fetch calls no server at this port') : error
    })
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel()
      throw new UncallableModelError(
        `the model's server redirects (HTTP ${response.status}), and redirects are not followed`,
      )
    }
    const { status, statusText, headers } = response
    const body = response.ok ? response.body : response.body?.pipeThrough(createCutOffStream(MAX_ERROR_BYTES))
    return new Response(body as ReadableStream<Uint8Array> | undefined, { status, statusText, headers: [...headers] })
  }
  return { fetch: guardedFetch, close: () => agent.destroy() }
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

function createCutOffStream(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytesLeft = maxBytes
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, bytesLeft))
      bytesLeft -= chunk.byteLength
      if (bytesLeft <= 0) controller.terminate()
    },
  })
}

/** Some ports belong to other protocols, and fetch rejects to call them: https://fetch.spec.whatwg.org/#port-blocking. */
function isForbiddenPort(error: unknown): boolean {
  return error instanceof TypeError && error.cause instanceof Error && error.cause.message === 'bad port'
}
