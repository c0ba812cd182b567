/**
 * The sockets that the server listens on. `npm start` opens them, or inherits them from systemd, and its API processes share them.
 * They outlive these processes: while none of them accepts, connections wait in the kernel's queue, so a restart is a pause.
 */
import { lookup } from 'node:dns/promises'
import { BoundSocket } from 'node:net'
import { ConfigError } from '@reasoning-gym-server/contract/dot-env'
import type { ListenAddress } from '../http/connections/listening.ts'
import type { ServerConfig } from '../platform/environment.ts'
import { getInheritedSockets } from '../platform/installation.ts'
import { createListenError } from './bootstrap/startup-report.ts'

type Addresses = Pick<ServerConfig, 'HOST' | 'PORT' | 'ORS_PORT'>

interface ListeningSockets {
  /** Those of PORT, and then as many of ORS_PORT. */
  fds: number[]
  /** New connections are then rejected once the API processes have ended, unless the sockets are inherited. */
  close(): void
}

/** The API processes listen; this process never accepts. */
export async function openListeningSockets(config: Addresses): Promise<ListeningSockets> {
  const inherited = getInheritedSockets()
  if (inherited.length > 0) return { fds: inherited, close: () => {} }
  const sockets: BoundSocket[] = []
  for (const port of [config.PORT, config.ORS_PORT])
    if (port !== undefined) sockets.push(...(await bindPort(config.HOST, port)))
  return {
    fds: sockets.map((socket) => socket.fd()),
    close() {
      for (const socket of sockets) socket.close()
    },
  }
}

/** Where the API and, if ORS_PORT is set, the server of ORS listen: on inherited sockets, if there are any. */
export function resolveListenAddresses({ HOST: host, PORT, ORS_PORT }: Addresses): {
  api: ListenAddress
  ors: ListenAddress | undefined
} {
  const fds = getInheritedSockets()
  const share = ORS_PORT === undefined ? fds.length : fds.length / 2
  if (!Number.isInteger(share))
    throw new ConfigError(`LISTEN_FDS=${fds.length}, but PORT and ORS_PORT need equally many sockets`)
  return {
    api: { host, port: PORT, fds: fds.slice(0, share) },
    ors: ORS_PORT === undefined ? undefined : { host, port: ORS_PORT, fds: fds.slice(share) },
  }
}

/** localhost is every loopback address that the system has: clients try them in any order. */
async function bindPort(host: string, port: number): Promise<BoundSocket[]> {
  try {
    const found = await lookup(host, { all: true })
    const addresses = host === 'localhost' ? found : found.slice(0, 1)
    return addresses.flatMap(({ address }, k) => {
      try {
        return [new BoundSocket({ host: address, port })]
      } catch (error) {
        if (k > 0 && (error as NodeJS.ErrnoException).code === 'EADDRNOTAVAIL') return [] // no IPv6
        throw error
      }
    })
  } catch (error) {
    throw createListenError({ host, port }, error)
  }
}
