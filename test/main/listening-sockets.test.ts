import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import { openListeningSockets } from '../../src/main/listening-sockets.ts'
import { getFreePort } from '../../verification/support/with-server.ts'
import { until } from '../world.ts'

afterEach(() => vi.unstubAllEnvs())

it('connections are spread over the API processes, and nobody else gets the port', async () => {
  vi.stubEnv('LISTEN_FDS', '0')
  const PORT = await getFreePort()
  const sockets = await openListeningSockets({ HOST: '127.0.0.1', PORT }, 4)
  expect(sockets.fds.map((fds) => fds.length)).toEqual([1, 1, 1, 1])
  const counts = [0, 0, 0, 0]
  const servers = sockets.fds.map(([fd], k) =>
    createServer(() => void counts.splice(k, 1, (counts[k] ?? 0) + 1)).listen({ fd }),
  )
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const clients = Array.from({ length: 128 }, () => connect(PORT, '127.0.0.1'))
  await until(
    async () => counts.reduce((sum, count) => sum + count, 0),
    (all) => all === clients.length,
  )
  expect(Math.min(...counts)).toBeGreaterThan(8) // 32 on average; one of a hundred million falls short
  await expect(openListeningSockets({ HOST: '127.0.0.1', PORT }, 4)).rejects.toThrow(`Port ${PORT} is taken`)
  for (const client of clients) client.destroy()
  for (const server of servers) server.close()
  sockets.close()
})

it('of two servers that start at once, one gets the port, and the other can have it afterwards', async () => {
  vi.stubEnv('LISTEN_FDS', '0')
  const addresses = { HOST: '127.0.0.1', PORT: await getFreePort() }
  const sockets = await openListeningSockets(addresses, 2) // nobody listens on them yet
  await expect(openListeningSockets(addresses, 2)).rejects.toThrow(`Port ${addresses.PORT} is taken`)
  sockets.close()
  const others = await openListeningSockets(addresses, 2)
  others.close()
})
