/** Without keys everyone who reaches the server is its admin, so only this machine may reach it. */
import ipaddr from 'ipaddr.js'
import { ConfigError, type ServerConfig } from '../../platform/config.ts'
import type { KeyRing } from './key-ring.ts'

/** Whether a host name or address stays on this machine. Other names are looked up by no one: they may change. */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[|\]$|\.$/g, '').toLowerCase() // names have no case, and may end in the root's dot
  if (plain === 'localhost') return true
  return ipaddr.isValid(plain) && ipaddr.process(plain).range() === 'loopback'
}

export function assertKeysOrLoopback({ HOST }: Pick<ServerConfig, 'HOST'>, ring: KeyRing | undefined): void {
  if (ring || isLoopback(HOST)) return
  throw new ConfigError(
    `HOST=${HOST} lets others reach the server, and it has no keys: set API_KEYS=admin:KEY (a long random KEY; ` +
      'more roles in docs/operations/access.md) or API_KEYS_FILE, or HOST=127.0.0.1',
  )
}
