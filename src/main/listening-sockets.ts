/**
 * The sockets that the server listens on. `npm start` opens those of each API process, or inherits sockets from systemd, which all
 * of them share. They outlive the processes: while none of them accepts, connections wait in the kernel's queue, so a restart is a pause.
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
  /** For each API process, those of PORT, and then as many of ORS_PORT. */
  fds: number[][]
  /** New connections are then rejected once the API processes have ended, unless the sockets are inherited. */
  close(): void
}

/**
 * The API processes listen; this process never accepts. The kernel spreads new connections evenly over the sockets of one port. Of
 * processes that share a socket, the one that the kernel wakes first gets most: of 64 connections, two of eight processes had 60.
 */
export async function openListeningSockets(config: Addresses, processes: number): Promise<ListeningSockets> {
  const inherited = getInheritedSockets()
  if (inherited.length > 0) return { fds: Array.from({ length: processes }, () => [...inherited]), close: () => {} }
  const groups: BoundSocket[][] = []
  for (const port of [config.PORT, config.ORS_PORT])
    if (port !== undefined) groups.push(...(await bindPort(config.HOST, port, processes)))
  return {
    fds: Array.from({ length: processes }, (_, k) =>
      groups.map((group) => (group[k % group.length] as BoundSocket).fd()),
    ),
    close() {
      for (const socket of groups.flat()) socket.close()
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

/** Returns the sockets of each address. localhost is every loopback address that the system has: clients try them in any order. */
async function bindPort(host: string, port: number, processes: number): Promise<BoundSocket[][]> {
  try {
    const found = await lookup(host, { all: true })
    const addresses = host === 'localhost' ? found : found.slice(0, 1)
    return addresses.flatMap(({ address }, k) => {
      try {
        return [bindAddress(address, port, processes)]
      } catch (error) {
        if (k > 0 && (error as NodeJS.ErrnoException).code === 'EADDRNOTAVAIL') return [] // no IPv6
        throw error
      }
    })
  } catch (error) {
    throw createListenError({ host, port }, error)
  }
}

/** Returns a socket for each process, or one for all where the system does not spread connections (macOS). */
function bindAddress(host: string, port: number, processes: number): BoundSocket[] {
  const only = new BoundSocket({ host, port }) // fails if another server has the port, whether or not it would share it
  if (processes === 1) return [only]
  const bound = { host, port: only.address().port }
  only.close()
  try {
    return Array.from({ length: processes }, () => new BoundSocket({ ...bound, reusePort: true }))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTSUP') throw error
    return [new BoundSocket(bound)]
  }
}
