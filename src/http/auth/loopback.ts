/** Requires a loopback HOST if no keys are configured, because every caller is then an admin. */
import ipaddr from 'ipaddr.js'
import type { ServerConfig } from '../../platform/environment.ts'
import { ConfigError } from '../../platform/process-env.ts'
import type { KeyRing } from './key-ring.ts'

/** Whether a host name or address is loopback. It resolves no other names, because their addresses may change. */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[|\]$|\.$/g, '').toLowerCase() // names are case-insensitive and may end with a dot
  if (plain === 'localhost') return true
  return ipaddr.isValid(plain) && ipaddr.process(plain).range() === 'loopback'
}

export function assertKeysOrLoopback({ HOST }: Pick<ServerConfig, 'HOST'>, keyRing: KeyRing | undefined): void {
  if (keyRing || isLoopback(HOST)) return
  throw new ConfigError(
    `HOST=${HOST} is reachable from other machines, but no keys are configured: set API_KEYS=admin:KEY (a long random KEY; ` +
      'more roles in docs/operations/access.md) or API_KEYS_FILE, or HOST=127.0.0.1',
  )
}
