/** API processes that hang, are killed or are replaced, beside clients that open a connection for each call. */
import { request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listProcesses } from '../../verification/support/processes.ts'
import { type ChildServer, startChildServer } from '../../verification/support/with-server.ts'
import { until } from '../world.ts'

/** Others serve what waits after 3 s, more on an overloaded machine; a process that hangs is killed after 30 s. */
const MAX_WAIT_MS = 15_000

let server: ChildServer
beforeAll(async () => {
  server = await startChildServer({ API_PROCESSES: '2', WORKERS: '1', PYTHON_WORKERS: '1' })
  await until(
    async () => server.output(),
    (text) => text.includes('reasoning-gym-server is at'), // both listen
    180_000,
  )
}, 300_000)
afterAll(() => server.stop())

const listPids = (script: string) =>
  listProcesses()
    .filter(({ ppid, args }) => ppid === server.pid && args.split(' ').some((word) => word.endsWith(script)))
    .map(({ pid }) => pid)
const waitUntilReplaced = (pid: number) =>
  until(
    async () => listPids('api.ts'),
    (pids) => pids.length === 2 && !pids.includes(pid),
    90_000,
  )

it('one that hangs: others serve the connections that wait for it, and it is replaced', {
  timeout: 240_000,
}, async () => {
  const [pid = 0] = listPids('api.ts')
  const clients = startClients()
  await clients.waitForCalls(200)
  process.kill(pid, 'SIGSTOP')
  clients.expectSuccess()
  await clients.waitForCalls(2000)
  await waitUntilReplaced(pid)
  await clients.waitForCalls(500)
  await clients.stop()
  expect(server.output()).toContain('a child process does not answer and is killed')
})

it('one that is killed: others serve the connections that wait for it', { timeout: 240_000 }, async () => {
  const [pid = 0] = listPids('api.ts')
  const clients = startClients()
  await clients.waitForCalls(200)
  process.kill(pid, 'SIGKILL')
  clients.expectSuccess()
  await waitUntilReplaced(pid)
  await clients.waitForCalls(500)
  await clients.stop()
})

it('SIGUSR2 replaces all processes one after the other, and no call fails', { timeout: 240_000 }, async () => {
  const clients = startClients()
  const [worker = 0] = listPids('worker.ts')
  process.kill(worker, 'SIGKILL')
  await until(
    async () => listPids('worker.ts'),
    (pids) => pids.length === 1 && !pids.includes(worker),
  )
  const old = [...listPids('api.ts'), ...listPids('worker.ts')] // the new worker still starts
  clients.expectSuccess()
  process.kill(server.pid, 'SIGUSR2')
  const counts = new Set<number>()
  await until(
    async () => {
      const pids = [...listPids('api.ts'), ...listPids('worker.ts')]
      counts.add(pids.length)
      return pids
    },
    (pids) => pids.length === old.length && !pids.some((pid) => old.includes(pid)),
    90_000,
  )
  await clients.stop()
  expect(Math.min(...counts)).toBe(old.length)
})

/** Eight clients that call one after the other, each time on a new connection. A call in flight may break until `expectSuccess`. */
function startClients() {
  let calls = 0
  let expectedSince = Number.POSITIVE_INFINITY
  let isStopped = false
  const failures: string[] = []
  const call = async () => {
    const start = performance.now()
    const failure = await getLivez().catch((error: Error) => error.message)
    const took = performance.now() - start
    calls++
    if (start < expectedSince) return
    if (failure !== undefined) failures.push(failure)
    if (took > MAX_WAIT_MS) failures.push(`a call took ${Math.round(took)} ms`)
  }
  const run = async () => {
    while (!isStopped) await call()
  }
  const clients = Array.from({ length: 8 }, run)
  return {
    expectSuccess() {
      expectedSince = performance.now()
    },
    waitForCalls(more: number) {
      const enough = calls + more
      return until(
        async () => calls,
        (count) => count >= enough,
        60_000,
      )
    },
    async stop() {
      isStopped = true
      await Promise.all(clients)
      expect(failures).toEqual([])
    },
  }
}

function getLivez(): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
  request(`${server.url}/livez`, { agent: false }, (response) => {
    response.resume().on('error', reject)
    response.on('end', () => resolve(response.statusCode === 200 ? undefined : `status ${response.statusCode}`))
  })
    .on('error', reject)
    .end()
  return promise
}
