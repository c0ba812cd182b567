/** Whether a host is this machine. */
import ipaddr from 'ipaddr.js'

/** Whether a host name or address is loopback. It resolves no other names, because their addresses may change. */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[|\]$|\.$/g, '').toLowerCase() // names are case-insensitive and may end with a dot
  if (plain === 'localhost') return true
  return ipaddr.isValid(plain) && ipaddr.process(plain).range() === 'loopback'
}
