/** Identifies the caller of each request by its key. Without configured keys, every local caller is an admin. */

import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { isLoopback } from '../../platform/loopback.ts'
import type { KeyRing } from './key-ring.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
}

const BEARER_PATTERN = /^Bearer +(\S+) *$/i

interface AuthenticationOptions {
  keyRing: KeyRing | undefined
  corsOrigins: string[]
}

export const authentication = fastifyPlugin<AuthenticationOptions>(
  async (app, { keyRing, corsOrigins }) => {
    app.decorateRequest('caller', null as unknown as Caller) // the hook sets it before anything reads it
    app.addHook('onRequest', (request, _reply, done) => {
      request.caller = keyRing
        ? authenticateByKey(request, keyRing, corsOrigins)
        : authenticateLocalCaller(request, corsOrigins)
      done()
    })
  },
  { name: 'authentication', dependencies: ['request-ids', 'security-headers'] },
)

function authenticateByKey({ headers, ip }: FastifyRequest, keyRing: KeyRing, corsOrigins: string[]): Caller {
  for (const key of readKeys(headers, corsOrigins)) {
    const caller = keyRing.authenticate(key)
    if (caller) return caller
  }
  return { id: CLIENT_NETWORK_CACHE.memo(ip), role: null, runs: new Set() }
}

/**
 * Bearer and X-API-Key are headers that only programs and the server's own pages add. HTTP Basic is what a browser may add by
 * itself, once it knows a password, also to requests that pages of other sites begin: from those it does not count. No answer
 * challenges for it either (see authorization.ts), so browsers neither ask for a password nor keep one.
 *
 * X-API-Key goes before Basic, which may be meant for a proxy before the server.
 */
function readKeys(headers: IncomingHttpHeaders, corsOrigins: string[]): string[] {
  const { authorization = '' } = headers
  const bearer = BEARER_PATTERN.exec(authorization)?.[1]
  const [key] = [bearer ?? headers['x-api-key']].flat()
  if (key !== undefined) return [key]
  return isOfOtherOrigin(headers, corsOrigins) ? [] : readBasicKeys(authorization)
}

/** Whether the request has a key, known or not. */
export function hasReadableKey(headers: IncomingHttpHeaders): boolean {
  return readKeys(headers, []).some((key) => key !== '')
}

/**
 * Without keys, a web page in a local browser could also call the server, through a domain that resolves to this machine or
 * through a form. So the host name must be loopback. A page of another origin, including another port of this machine, may
 * read, but its calls that could change something are rejected.
 */
function authenticateLocalCaller({ hostname, headers, method, ip }: FastifyRequest, corsOrigins: string[]): Caller {
  if (hostname !== '' && !LOOPBACK_HOST_CACHE.memo(hostname).loopback) {
    throw new ServiceError(
      'forbidden',
      `The server has no API keys, so it only accepts requests to localhost, not to ${hostname.slice(0, 100)}. Set API_KEYS to serve other hosts.`,
    )
  }
  const id = CLIENT_NETWORK_CACHE.memo(ip)
  if (!isOfOtherOrigin(headers, corsOrigins)) return { id, role: 'admin', runs: null }
  if (method !== 'GET' && method !== 'HEAD') {
    throw new ServiceError(
      'forbidden',
      'The server has no API keys, so pages of other sites may not change anything. Add the origin to CORS_ORIGINS.',
    )
  }
  return { id, role: 'reader', runs: null }
}

/** Whether the headers say that a page of another origin made the request. Only browsers send these headers. */
function isOfOtherOrigin(
  { origin, host, 'sec-fetch-site': site }: IncomingHttpHeaders,
  corsOrigins: string[],
): boolean {
  if (origin !== undefined && corsOrigins.includes(origin)) return false
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host)
}

/** Cached because names and addresses recur, and parsing one takes longer than the rest of authentication. */
const LOOPBACK_HOST_CACHE = new LRUCache({ max: 1000, memoMethod: (name: string) => ({ loopback: isLoopback(name) }) })
const CLIENT_NETWORK_CACHE = new LRUCache({ max: 10_000, memoMethod: clientNetwork })

/** The IPv4 address, or the /64 network of an IPv6 address, because one host can use any address of its network. */
function clientNetwork(ip: string): string {
  if (!ipaddr.IPv6.isValid(ip)) return ip
  return ipaddr.process(ip).kind() === 'ipv4' ? ip : ipaddr.IPv6.networkAddressFromCIDR(`${ip}/64`).toString()
}

/**
 * Credentials in a URL, `http://trainer:KEY@host`, for clients that take nothing but a URL. They send them as HTTP Basic, with
 * the key as the password; the user name is free.
 */
const BASIC_PATTERN = /^Basic +([A-Za-z0-9+/_-]+={0,2}) *$/i
const ABSOLUTE_FORM_PATTERN = /^https?:\/\/[^/?#]*/i

/** The keys that the header may stand for, most likely first; none if it is not HTTP Basic or cannot be read. */
function readBasicKeys(authorization: string): string[] {
  const encoded = BASIC_PATTERN.exec(authorization)?.[1]
  if (encoded === undefined) return []
  const credentials = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = credentials.indexOf(':')
  if (colon < 0 || colon === credentials.length - 1) return []
  const password = credentials.slice(colon + 1)
  const decoded = decodePercent(password)
  return decoded === password ? [password] : [password, decoded]
}

/** Some clients send the password as written in the URL, where `/`, `@` and `%` must be percent-encoded. */
function decodePercent(password: string): string {
  try {
    return decodeURIComponent(password)
  } catch {
    return password
  }
}

/**
 * For Fastify's `rewriteUrl`. A client that treats the server as a proxy sends the whole URL as the target, sometimes with
 * credentials. The origin is removed, so that nothing that shows a target, such as the log or a 404, can show a key.
 */
export function dropOriginFromTarget({ url = '/' }: { url?: string | undefined }): string {
  if (url.startsWith('/')) return url
  const rest = url.replace(ABSOLUTE_FORM_PATTERN, '')
  return rest.startsWith('/') || rest === url ? rest : `/${rest}`
}
