/**
 * fetch for addresses that a client chose: judged after DNS, at the moment of connecting, so that no name can change in
 * between; redirects are refused and answers bounded.
 */
import { lookup as dnsLookup, type LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector, type RequestInit, fetch as undiciFetch } from 'undici'
import { Fault } from '../faults.ts'
import { type Reach, refusalOf } from './reach.ts'

const CONNECT_MS = 10_000
const LOOKUP_MS = 5_000
/** Most bytes of one answer, unpacked: far more than a long completion with logprobs has. */
const ANSWER_MAX_BYTES = 64 * 1024 * 1024
const MODELS_CONNECTIONS = 256

/** A call that must not be made; asking again does not help. */
export class CallRefused extends Error {}

export interface GuardedFetch {
  fetch: typeof globalThis.fetch
  close(): Promise<void>
}

export function guardedFetch(reach: Reach): GuardedFetch {
  const connect = buildConnector({ timeout: CONNECT_MS, lookup: guardedLookup(reach) })
  const agent = new Agent({
    connect(options, callback) {
      // Node looks up names only: an address that is written out is judged here.
      const host = bare(options.hostname)
      const refusal = isIP(host) ? refusalOf(host, host, reach) : undefined
      if (refusal !== undefined) return callback(new CallRefused(refusal), null)
      connect(options, callback)
    },
    connections: MODELS_CONNECTIONS,
    headersTimeout: 0, // the caller's signal is the deadline
    bodyTimeout: 0,
  })
  const call = async (input: string | URL | Request, init?: object) => {
    const url = input instanceof Request ? input.url : input
    const options = { ...init, dispatcher: agent, redirect: 'manual' } as RequestInit // undici's and Node's differ in name only
    const response = await undiciFetch(url, options)
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel()
      throw new CallRefused(`it redirects (HTTP ${response.status}), and redirects are not followed`)
    }
    const { status, statusText, headers } = response
    const body = response.body?.pipeThrough(bounded())
    return new Response(body as ReadableStream<Uint8Array> | undefined, { status, statusText, headers: [...headers] })
  }
  return { fetch: call, close: () => agent.destroy() }
}

/** Throws `invalid_request` unless the URL is one that may be called now; every later call is judged again. */
export async function assertCallable(url: string, reach: Reach): Promise<void> {
  const { hostname, protocol, username, password } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') throw refused('must be http or https')
  if (username || password) throw refused('must not hold credentials: send them as api_key')
  if (/[?#]/.test(url)) throw refused('must not have a query or a fragment') // an empty one would take the path in, too
  const host = bare(hostname)
  const addresses = isIP(host) ? [host] : await addressesOf(host)
  for (const address of addresses) {
    const refusal = refusalOf(address, host, reach)
    if (refusal !== undefined) throw refused(refusal)
  }
}

async function addressesOf(host: string): Promise<string[]> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('no answer')), LOOKUP_MS)
  try {
    return (await Promise.race([lookup(host, { all: true }), late])).map(({ address }) => address)
  } catch {
    throw refused(`the name ${host} cannot be resolved`)
  } finally {
    clearTimeout(timer)
  }
}

function guardedLookup(reach: Reach): LookupFunction {
  return (host, options, callback) => {
    dnsLookup(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, [])
      for (const { address } of addresses) {
        const refusal = refusalOf(address, host, reach)
        if (refusal !== undefined) return callback(new CallRefused(refusal), [])
      }
      const [first] = addresses
      if (options.all || !first) return callback(null, addresses)
      callback(null, first.address, first.family)
    })
  }
}

function bounded(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes > ANSWER_MAX_BYTES) controller.error(new CallRefused(`its answer is over ${ANSWER_MAX_BYTES} bytes`))
      else controller.enqueue(chunk)
    },
  })
}

function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function refused(reason: string): Fault {
  return new Fault('invalid_request', `model.base_url: ${reason}`, {
    errors: [{ path: 'model.base_url', message: reason }],
  })
}
