/**
 * The sockets that the server listens on. `npm start` opens those of each API process, or inherits sockets from systemd, which all
 * of them share. They outlive the processes: while none of them accepts, connections wait in the kernel's queue, so a restart is a pause.
 */
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { BoundSocket, createServer, type Server, type Socket } from 'node:net'
import { LISTEN_BACKLOG, type ListenAddress } from '../http/connections/listening.ts'
import type { ServerConfig } from '../platform/environment.ts'
import { getInheritedSockets } from '../platform/installation.ts'
import { createListenError } from './bootstrap/startup-report.ts'

type Address = Pick<ServerConfig, 'HOST' | 'PORT'>

export interface ListeningSockets {
  /** For each API process, one for each address of the host. */
  fds: number[][]
  /**
   * From now on, this process accepts connections on the sockets of one API process as well. It never stops, because closing a
   * socket breaks the connections that wait there. Does nothing if the API processes share their sockets.
   */
  rescue(index: number, onConnection: (socket: Socket) => void): void
  /** New connections are then rejected once the API processes have ended, unless the sockets are inherited. */
  close(): void
}

/**
 * The API processes accept; this process does so only where one of them leaves connections waiting. The kernel spreads new
 * connections evenly over the sockets of one port. Of processes that share a socket, the one that the kernel wakes first gets most:
 * of 64 connections, two of eight processes had 60.
 */
export async function openListeningSockets(config: Address, processes: number): Promise<ListeningSockets> {
  const inherited = getInheritedSockets()
  if (inherited.length > 0)
    return { fds: Array.from({ length: processes }, () => [...inherited]), rescue: () => {}, close: () => {} }
  const bound = await bindPort(config.HOST, config.PORT, processes)
  const rescuers = new Map<number, Server[]>()
  return {
    fds: Array.from({ length: processes }, (_, k) =>
      bound.map(({ sockets }) => (sockets[k % sockets.length] as BoundSocket).fd()),
    ),
    rescue(index, onConnection) {
      if (rescuers.has(index)) return
      const own = bound.flatMap(({ sockets }) => (sockets.length > 1 && sockets[index]) || [])
      const accept = (socket: BoundSocket) =>
        createServer({ pauseOnConnect: true, noDelay: true }, onConnection).listen(socket, LISTEN_BACKLOG)
      rescuers.set(index, own.map(accept))
    },
    close() {
      for (const server of [...rescuers.values()].flat()) server.close()
      for (const { sockets, lock } of bound) {
        for (const socket of sockets) socket[Symbol.dispose]() // does nothing to those of a server
        lock?.close()
      }
    },
  }
}

/** Where the API listens: on inherited sockets, if there are any. */
export function resolveListenAddress({ HOST: host, PORT: port }: Address): ListenAddress {
  return { host, port, fds: getInheritedSockets() }
}

interface BoundAddress {
  /** One for each process, or one for all where the system does not spread connections (macOS). */
  sockets: BoundSocket[]
  lock?: Server | undefined
}

/** localhost is every loopback address that the system has: clients try them in any order. */
async function bindPort(host: string, port: number, processes: number): Promise<BoundAddress[]> {
  const bound: BoundAddress[] = []
  try {
    const found = await lookup(host, { all: true })
    for (const { address } of host === 'localhost' ? found : found.slice(0, 1)) {
      try {
        bound.push(await bindAddress(address, port, processes))
      } catch (error) {
        if (bound.length > 0 && (error as NodeJS.ErrnoException).code === 'EADDRNOTAVAIL') continue // no IPv6
        throw error
      }
    }
    return bound
  } catch (error) {
    throw createListenError({ host, port }, error)
  }
}

async function bindAddress(host: string, port: number, processes: number): Promise<BoundAddress> {
  const only = new BoundSocket({ host, port }) // fails if another server listens there, whether or not it would share the port
  if (processes === 1) return { sockets: [only] }
  const address = { host, port: only.address().port }
  only.close()
  try {
    const sockets = Array.from({ length: processes }, () => new BoundSocket({ ...address, reusePort: true }))
    return { sockets, lock: await lockPort(address) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTSUP') throw error
    return { sockets: [new BoundSocket(address)] }
  }
}

/**
 * Of two servers that start at the same time, neither listens yet when the other binds, and they would share the port. Linux frees
 * the name of an abstract socket with the process that has it; where there are none, nothing is locked.
 */
async function lockPort({ host, port }: { host: string; port: number }): Promise<Server | undefined> {
  const lock = createServer().unref()
  lock.listen(`\0reasoning-gym-server ${host}:${port}`)
  try {
    await once(lock, 'listening')
    return lock
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw error
    return undefined
  }
}
