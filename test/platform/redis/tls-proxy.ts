/** TLS in front of a Redis that has none, as stunnel or a service mesh puts it there: any Redis can be tested over TLS. */
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, type NetConnectOpts, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import type { TestCertificates } from '../../../verification/support/certificates.ts'

interface TlsProxyOptions {
  /** Where the Redis is. */
  target: NetConnectOpts
  certificate: TestCertificates['server']
  /** Asks for a certificate that this CA has signed. */
  clientCa?: string
  /** 0, the default: the system chooses. */
  port?: number
}

export interface TlsProxy {
  port: number
  /** Breaks all connections, at whatever byte they are. New ones are accepted. */
  cut(): void
  close(): Promise<void>
}

export async function startTlsProxy({ target, certificate, clientCa, port = 0 }: TlsProxyOptions): Promise<TlsProxy> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}) // a client that gives up; its other half is closed below
    socket.once('close', () => sockets.delete(socket))
  }
  const server = createServer(
    {
      cert: readFileSync(certificate.cert),
      key: readFileSync(certificate.key),
      ...(clientCa !== undefined && { requestCert: true, ca: readFileSync(clientCa) }),
    },
    (client) => {
      const redis = connect(target)
      for (const socket of [client, redis]) keep(socket)
      client.once('close', () => redis.destroy())
      redis.once('close', () => client.destroy())
      client.pipe(redis).pipe(client)
    },
  )
  server.on('connection', keep)
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(port, '127.0.0.1', resolve)
  await promise
  return {
    port: (server.address() as AddressInfo).port, // it listens on a port
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      for (const socket of sockets) socket.destroy()
      await closed.promise
    },
  }
}
