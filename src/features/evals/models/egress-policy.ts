/**
 * Which addresses the server may call for its clients. Allowed are public addresses, loopback if all clients are on this machine,
 * and whatever MODEL_HOSTS allows. Link-local and metadata addresses are always denied, so that the server is not a way into a
 * network.
 */

import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import type { ServerConfig } from '../../../platform/environment.ts'
import { isLoopback } from '../../../platform/loopback.ts'

const DNS_TIMEOUT_MS = 5_000

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

export function stripBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function invalidBaseUrlError(reason: string): ServiceError {
  return new ServiceError(
    'invalid_request',
    `The server may not call model.base_url: ${reason}. Use another address, or have MODEL_HOSTS permit this one.`,
    {
      errors: [{ path: 'model.base_url', message: reason }],
    },
  )
}

export const EgressPolicy = z.strictObject({
  allow_loopback: z.boolean(),
  /** Host names, addresses and ranges that are allowed even if they are loopback or private. */
  allowed_hosts: z.array(z.string()),
})
export type EgressPolicy = z.infer<typeof EgressPolicy>

/** Cloud metadata services outside the link-local range. */
const METADATA_ADDRESSES = new Set([
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
])
/**
 * The range that holds all IPv6 addresses assigned to networks. Addresses outside it are unassigned or have other uses,
 * such as `::a.b.c.d`.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
const PRIVATE_RANGES = new Set(['private', 'uniqueLocal', 'carrierGradeNat'])

type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

type PolicySettings = Pick<ServerConfig, 'HOST' | 'MODEL_HOSTS' | 'TRUST_PROXY' | 'API_KEYS' | 'API_KEYS_FILE'>

/** A server on loopback has clients elsewhere if it has keys or is behind a proxy. */
export function buildEgressPolicy({ HOST, MODEL_HOSTS, TRUST_PROXY, ...keys }: PolicySettings): EgressPolicy {
  const hasKeys = keys.API_KEYS !== undefined || keys.API_KEYS_FILE !== undefined
  const isLocal = isLoopback(HOST) && !hasKeys && TRUST_PROXY.length === 0
  return { allow_loopback: isLocal, allowed_hosts: MODEL_HOSTS }
}

/** Returns why the policy denies an address, or undefined if it allows it. `host` is the name that resolved to the address. */
export function getDenialReason(address: string, host: string, policy: EgressPolicy): string | undefined {
  const parsed = parseAddress(address)
  if (!parsed) return `${address} is not an IP address`
  const range = classifyAddress(parsed)
  if (METADATA_ADDRESSES.has(parsed.toString())) return `${address} is a metadata address, which the server never calls`
  if (range === 'unicast') return undefined
  const isAllowed = isAllowlisted(parsed, host, policy.allowed_hosts)
  if (range === 'loopback') {
    if (isAllowed || policy.allow_loopback) return undefined
    return `${address} is a loopback address: set MODEL_HOSTS to allow it`
  }
  if (PRIVATE_RANGES.has(range))
    return isAllowed ? undefined : `${address} is a private address: set MODEL_HOSTS to allow it`
  return `${address} is a ${range} address, which the server never calls`
}

/** Parses an address; `::ffff:127.0.0.1` becomes 127.0.0.1. */
function parseAddress(address: string): IpAddress | undefined {
  const url = `http://[${address}]/`
  // ipaddr.js reads ::1.2.3.4 as ::ffff:1.2.3.4
  const text = URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : address
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined
}

function classifyAddress(address: IpAddress): string {
  const range = address.range()
  const isUnassigned = range === 'unicast' && address instanceof ipaddr.IPv6 && !address.match(GLOBAL_UNICAST)
  return isUnassigned ? 'reserved' : range
}

function isAllowlisted(address: IpAddress, host: string, hosts: string[]): boolean {
  return hosts.some((entry) => {
    if (entry.toLowerCase() === host.toLowerCase()) return true
    if (ipaddr.isValid(entry)) return ipaddr.process(entry).toString() === address.toString()
    if (!ipaddr.isValidCIDR(entry)) return false
    const [network, bits] = ipaddr.parseCIDR(entry)
    // the line above proves that both are of the same kind
    return network.kind() === address.kind() && address.match([network, bits] as [ipaddr.IPv4, number])
  })
}
