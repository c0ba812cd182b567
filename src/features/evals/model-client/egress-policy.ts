/**
 * Which addresses the server may call a model at: public ones, loopback if the server itself listens on loopback only, and
 * whatever MODEL_HOSTS allows. Link-local and metadata addresses are always denied: the server must not be a way into a network.
 */
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { isLoopback } from '../../../http/auth/loopback.ts'

export const EgressPolicy = z.strictObject({
  allow_loopback: z.boolean(),
  /** Host names, addresses and ranges that may be loopback or private. */
  allowed_hosts: z.array(z.string()),
})
export type EgressPolicy = z.infer<typeof EgressPolicy>

/** Cloud metadata services outside the link-local range. */
const METADATA_ADDRESSES = new Set(['168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254'])
const PRIVATE_RANGES = new Set(['private', 'uniqueLocal', 'carrierGradeNat'])

type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

export function buildEgressPolicy({ HOST, MODEL_HOSTS }: { HOST: string; MODEL_HOSTS: string[] }): EgressPolicy {
  return { allow_loopback: isLoopback(HOST), allowed_hosts: MODEL_HOSTS }
}

/** Why the policy denies an address; undefined if it allows it. `host` is the name that resolved to the address. */
export function getDenialReason(address: string, host: string, policy: EgressPolicy): string | undefined {
  if (!ipaddr.isValid(address)) return `${address} is not an IP address`
  const parsed = ipaddr.process(address) // ::ffff:127.0.0.1 is 127.0.0.1
  const range = parsed.range()
  if (METADATA_ADDRESSES.has(parsed.toString())) return `${address} is a metadata address, which the server never calls`
  if (range === 'unicast') return undefined
  const isAllowed = isAllowlisted(parsed, host, policy.allowed_hosts)
  if (range === 'loopback') {
    if (isAllowed || policy.allow_loopback) return undefined
    return `${address} is a loopback address: set MODEL_HOSTS to allow it, or bind the server to loopback`
  }
  if (PRIVATE_RANGES.has(range))
    return isAllowed ? undefined : `${address} is a private address: set MODEL_HOSTS to allow it`
  return `${address} is a ${range} address, which the server never calls`
}

function isAllowlisted(address: IpAddress, host: string, hosts: string[]): boolean {
  return hosts.some((entry) => {
    if (entry.toLowerCase() === host.toLowerCase()) return true
    if (ipaddr.isValid(entry)) return ipaddr.process(entry).toString() === address.toString()
    if (!ipaddr.isValidCIDR(entry)) return false
    const [network, bits] = ipaddr.parseCIDR(entry)
    return network.kind() === address.kind() && address.match([network, bits] as [ipaddr.IPv4, number]) // the line above proves that both are of one kind
  })
}
