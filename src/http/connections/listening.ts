/**
 * When the server starts and stops to listen. As it closes, it ends the open connections: clients open connections in advance
 * and keep them alive, so connections that never sent a byte are closed soon, all others after their response. Node alone
 * would wait for the clients to disconnect.
 */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import fastifyPlugin from 'fastify-plugin'
import type { App } from '../app.ts'

const IDLE_CHECK_INTERVAL_MS = 20
/** Time for requests that clients sent before the close and that have not arrived yet. */
const LATE_REQUEST_GRACE_MS = 100
/**
 * Number of checks for the first byte of a connection, over 1 s: its client may be far away or busy. Checks are counted instead of
 * time, because a process that was stalled for a second has not read what came.
 */
const FIRST_REQUEST_CHECKS = 50
/** The same for a process that another one has replaced, over 5 s: nothing waits for its end, but it is ended after 15 s. */
const FIRST_REQUEST_CHECKS_IF_REPLACED = 250
/** Upper bound on accepting connections that the kernel queued before the close. */
const MAX_ACCEPT_DRAIN_MS = 2000

let firstRequestChecks = FIRST_REQUEST_CHECKS

/** Gives the clients of a replaced process more time for the first request of a connection. */
export function allowLateRequests(): void {
  firstRequestChecks = FIRST_REQUEST_CHECKS_IF_REPLACED
}

export const gracefulClose = fastifyPlugin(
  async (app) => {
    /** With the number of checks for its first byte. */
    const openSockets = new Map<Socket, number>()
    let acceptedCount = 0
    let closing: Promise<void> | undefined
    app.server.on('connection', (socket) => {
      acceptedCount++
      openSockets.set(socket, 0)
      socket.once('close', () => openSockets.delete(socket))
    })
    app.addHook('preClose', async () => {
      await sleep(LATE_REQUEST_GRACE_MS)
      await drainAcceptQueue()
      for (const server of [app.server, ...(otherServers.get(app.server) ?? [])]) server.close()
      closing = closeIdleConnections()
    })
    app.addHook('onClose', () => closing)

    /** libuv accepts one connection per turn of the event loop and reads from it in the next. */
    async function drainAcceptQueue(): Promise<void> {
      const deadline = performance.now() + MAX_ACCEPT_DRAIN_MS
      for (let before = -1; before !== acceptedCount && performance.now() < deadline; ) {
        before = acceptedCount
        await nextTurn()
      }
    }

    async function closeIdleConnections(): Promise<void> {
      while (openSockets.size > 0) {
        app.server.closeIdleConnections()
        for (const [socket, checks] of openSockets) {
          openSockets.set(socket, checks + 1)
          const isUnused = socket.bytesRead === 0 && checks >= firstRequestChecks
          if (isUnused || socket.writableFinished) socket.destroy() // or answered, but still sending a rejected body
        }
        await sleep(IDLE_CHECK_INTERVAL_MS)
      }
    }
  },
  { name: 'graceful-close' },
)

/**
 * Length of the kernel's accept queue, capped by `net.core.somaxconn`. The default of 511 is too short for a thousand clients
 * that connect at once: the kernel then drops handshakes, and those clients retry after one, two, four seconds.
 */
export const LISTEN_BACKLOG = 65_535

/** Where a server listens. */
export interface ListenAddress {
  host: string
  port: number
  /** Sockets that another process has opened: file descriptors. If there are none, this process opens one. */
  fds?: number[]
}

/** Servers on the further sockets of a server. */
const otherServers = new WeakMap<object, Server[]>()

/** Returns the addresses at which clients reach the server. */
export async function listen(
  app: App,
  { host, port, fds: [first, ...others] = [] }: ListenAddress,
): Promise<(AddressInfo | string | null)[]> {
  if (first === undefined) {
    await app.listen({ host, port, backlog: LISTEN_BACKLOG })
    return [app.server.address()]
  }
  await once(app.server.listen({ fd: first }, LISTEN_BACKLOG), 'listening')
  const servers = others.map((fd) => {
    const server = createServer((socket) => app.server.emit('connection', socket))
    return server.listen({ fd }, LISTEN_BACKLOG)
  })
  otherServers.set(app.server, servers)
  await Promise.all(servers.map((server) => once(server, 'listening')))
  return [app.server, ...servers].map((server) => server.address())
}
