/**
 * Where the server may call a model. Public addresses; loopback while the server itself listens on loopback only; what
 * MODEL_HOSTS names. Link-local and metadata addresses never, whatever names them: the server is no way into a network.
 */
import ipaddr from 'ipaddr.js'
import { isLoopback } from '../../../http/auth/loopback.ts'

/** What one process may reach; kept with each eval, so that every node goes by the rules of the one that took it. */
export interface EgressPolicy {
  loopback: boolean
  /** Host names, addresses and ranges that may be loopback or private. */
  hosts: string[]
}

/** Cloud metadata services that lie outside the link-local range. */
const METADATA_ADDRESSES = new Set(['168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254'])
const PRIVATE_RANGES = new Set(['private', 'uniqueLocal', 'carrierGradeNat'])

type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

export function buildEgressPolicy({ HOST, MODEL_HOSTS }: { HOST: string; MODEL_HOSTS: string[] }): EgressPolicy {
  return { loopback: isLoopback(HOST), hosts: MODEL_HOSTS }
}

/** Why an address may not be called; undefined if it may. `host` is the name that led to it. */
export function getDenialReason(address: string, host: string, reach: EgressPolicy): string | undefined {
  if (!ipaddr.isValid(address)) return `${address} is not an address`
  const parsed = ipaddr.process(address) // ::ffff:127.0.0.1 is 127.0.0.1
  const range = parsed.range()
  if (METADATA_ADDRESSES.has(parsed.toString())) return `${address} is a metadata address, which is never called`
  if (range === 'unicast') return undefined
  const named = isAllowlisted(parsed, host, reach.hosts)
  if (range === 'loopback') {
    if (named || reach.loopback) return undefined
    return `${address} is a loopback address: set MODEL_HOSTS to allow it, or bind the server to loopback`
  }
  if (PRIVATE_RANGES.has(range))
    return named ? undefined : `${address} is a private address: set MODEL_HOSTS to allow it`
  return `${address} is a ${range} address, which is never called`
}

function isAllowlisted(address: IpAddress, host: string, hosts: string[]): boolean {
  return hosts.some((entry) => {
    if (entry.toLowerCase() === host.toLowerCase()) return true
    if (ipaddr.isValid(entry)) return ipaddr.process(entry).toString() === address.toString()
    if (!ipaddr.isValidCIDR(entry)) return false
    const [network, bits] = ipaddr.parseCIDR(entry)
    return network.kind() === address.kind() && address.match([network, bits] as [ipaddr.IPv4, number]) // of one kind
  })
}
