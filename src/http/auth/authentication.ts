/** Who calls: by the key that was sent, or without keys, whoever is on this machine. */
import type { FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../../contract/caller.ts'
import { ServiceError } from '../../contract/errors.ts'
import type { KeyRing } from './key-ring.ts'
import { isLoopback } from './loopback.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
}

interface AuthenticationOptions {
  keyRing: KeyRing | undefined
  corsOrigins: string[]
}

export const authentication = fastifyPlugin<AuthenticationOptions>(
  async (app, { keyRing, corsOrigins }) => {
    app.decorateRequest('caller', null as unknown as Caller) // the hook sets it before anything reads it
    app.addHook('onRequest', (request, _reply, done) => {
      request.caller = keyRing ? authenticateByKey(request, keyRing) : authenticateLocalCaller(request, corsOrigins)
      done()
    })
  },
  { name: 'authentication', dependencies: ['request-ids', 'security-headers'] },
)

function authenticateByKey({ headers, ip }: FastifyRequest, keyRing: KeyRing): Caller {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const [key] = [bearer ?? headers['x-api-key']].flat()
  return (
    (key !== undefined && keyRing.authenticate(key)) || {
      id: CLIENT_NETWORK_CACHE.memo(ip),
      role: null,
      runs: new Set(),
    }
  )
}

/**
 * Without keys a page in a browser on this machine could call too: under a name of its own that points here, or by a
 * form. So the host must be loopback by name, and what changes something must not come from another site.
 */
function authenticateLocalCaller({ hostname, headers, method, ip }: FastifyRequest, corsOrigins: string[]): Caller {
  if (hostname !== '' && !LOOPBACK_HOST_CACHE.memo(hostname).loopback) {
    throw new ServiceError(
      'forbidden',
      `Without API_KEYS the server answers to localhost, not to ${hostname.slice(0, 100)}`,
    )
  }
  const elsewhere = headers['sec-fetch-site'] === 'cross-site' && !corsOrigins.includes(headers.origin ?? '')
  if (method !== 'GET' && method !== 'HEAD' && elsewhere) {
    throw new ServiceError(
      'forbidden',
      'Without API_KEYS pages of other sites may change nothing; CORS_ORIGINS lets some in',
    )
  }
  return { id: CLIENT_NETWORK_CACHE.memo(ip), role: 'admin', runs: null }
}

/** Names and addresses come again and again, and reading one takes longer than all else that is done here. */
const LOOPBACK_HOST_CACHE = new LRUCache({ max: 1000, memoMethod: (name: string) => ({ loopback: isLoopback(name) }) })
const CLIENT_NETWORK_CACHE = new LRUCache({ max: 10_000, memoMethod: clientNetwork })

/** The address; of IPv6 the network of 64 bits, since a host has all its addresses to choose from. */
function clientNetwork(ip: string): string {
  if (!ipaddr.IPv6.isValid(ip)) return ip
  return ipaddr.process(ip).kind() === 'ipv4' ? ip : ipaddr.IPv6.networkAddressFromCIDR(`${ip}/64`).toString()
}
