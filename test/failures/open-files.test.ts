/** Row of docs/operations/failures.md: connections take all files that a process may open. */
import { spawnSync } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { getConnectionLimit } from '../../src/http/connections/connection-limit.ts'
import { DEFAULT_HTTP_TIMEOUTS } from '../../src/http/connections/http-timeouts.ts'
import { startChildServer } from '../../verification/support/with-server.ts'
import { openWorld, until } from '../world.ts'
import { clientOf } from './server.ts'

const OPEN_FILES = 256
/** Every Node process of the server sets its own limit before it does anything else. */
const LIMIT_FILES = `import { execFileSync } from 'node:child_process'
execFileSync('prlimit', ['--pid', String(process.pid), '--nofile=${OPEN_FILES}'])`
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** Opens connections that stay: some after a request, some before their first. */
function crowd(url: string, count: number, firstBytes: string): void {
  const { hostname, port } = new URL(url)
  for (let k = 0; k < count; k++) {
    const socket = connect(Number(port), hostname, () => socket.write(firstBytes))
    socket.on('error', () => {}) // closed at the limit
    socket.resume()
    sockets.push(socket)
  }
}

const KEPT_ALIVE = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'

describe.skipIf(!hasPrlimit)('connections up to the limit of open files (needs prlimit)', () => {
  it('end no process; the log names the limit, and calls are answered', { timeout: 90_000 }, async () => {
    const server = await startChildServer({
      API_PROCESSES: '1',
      WORKERS: '1',
      PYTHON_WORKERS: '1',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(LIMIT_FILES)}`,
    })
    try {
      const client = clientOf(server.url)
      crowd(server.url, 2 * OPEN_FILES, KEPT_ALIVE)
      await until(
        async () => server.output(),
        (output) =>
          output.includes(`${getConnectionLimit(OPEN_FILES)} are open, the most for a limit of 256 open files`),
      )
      expect((await client.postUntilScored('crowded', 'g')).body.status).toBe('scored')
      await client.expectKept('crowded', ['g'])
      expect(server.output()).not.toMatch(/EMFILE|exited/)
    } finally {
      await server.stop()
    }
  })
})

it('connections that never send anything make room once their headers are late', async () => {
  const world = await openWorld({ maxConnections: 8, timeouts: { ...DEFAULT_HTTP_TIMEOUTS, headersMs: 500 } })
  try {
    const url = await world.app.listen({ host: '127.0.0.1', port: 0 })
    crowd(url, 16, '')
    await until(
      async () => sockets.filter(({ closed }) => closed).length,
      (closed) => closed >= 8,
    )
    await until(
      () =>
        clientOf(url)
          .call('GET', '/livez')
          .catch(() => ({ status: 0 })),
      ({ status }) => status === 200,
    )
  } finally {
    await world.close()
  }
})

it('a process that cannot read its memory in use reports nothing, and lives', async () => {
  const world = await openWorld()
  const rss = vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
    throw new Error('EMFILE: too many open files, uv_resident_set_memory')
  })
  try {
    await expect.poll(() => rss.mock.calls.length).toBeGreaterThan(0)
    rss.mockRestore()
    expect((await world.call('GET', '/overview')).body.processes).toHaveLength(1)
  } finally {
    rss.mockRestore()
    await world.close()
  }
})
