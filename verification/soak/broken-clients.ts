/** Clients as no library makes them: half bodies, requests that are given up, readers that do not read, nonsense. */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from '../support/seeded-random.ts'
import type { SoakClient } from './soak-client.ts'
import { type Actor, STEADY_RUN } from './traffic.ts'

const SILENCE_MS = 8_000
const SILENT_READERS = 3

const NONSENSE: { method: string; path: string; body?: unknown; status: number }[] = [
  { method: 'POST', path: '/score', body: { rollouts: 'many' }, status: 400 },
  { method: 'POST', path: '/items', body: { task: 'no_such_task' }, status: 404 },
  { method: 'POST', path: '/items', body: { tsak: 'gcd' }, status: 400 },
  { method: 'GET', path: '/items/nonsense', status: 400 },
  { method: 'GET', path: '/runs/no-such-run', status: 404 },
  { method: 'GET', path: '/eval/eval-000000000000', status: 404 },
  { method: 'GET', path: '/no/such/path', status: 404 },
  { method: 'PATCH', path: '/runs', status: 405 },
]

export const createBrokenClients = (client: SoakClient, random: SeededRandom): Actor => ({
  name: 'broken clients',
  everyMs: 3_000,
  async round(k) {
    const { method, path, body, status } = NONSENSE[k % NONSENSE.length] ?? { method: 'GET', path: '/', status: 200 }
    const answer = await client.call(method, path, { body, kind: 'nonsense', expect: status })
    if (answer.status !== status)
      client.log.addUnexpected('nonsense', `${method} ${path}: ${answer.status}`, String(status))
    const { hostname, port } = new URL(client.url)
    const address = { host: hostname, port: Number(port) }
    const length = 1000 + random.integerBelow(1_000_000)
    await sendAndLeave(address, `${head('POST', '/score', length)}{"rollouts": [`, 0)
    if (k % 4 === 0) await sendAndLeave(address, `${head('POST', '/rollouts', length)}{"run": "x"`, SILENCE_MS)
    const events = random.pick(['/events', `/runs/${STEADY_RUN}/export`, '/metrics'])
    const silent = Array.from({ length: SILENT_READERS }, () =>
      sendAndLeave(address, head('GET', events, 0), SILENCE_MS / 4),
    )
    await Promise.all(silent)
    await giveUp(client, 1 + random.integerBelow(40))
  },
})

function head(method: string, path: string, length: number): string {
  const body = length === 0 ? '' : `content-type: application/json\r\ncontent-length: ${length}\r\n`
  return `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${body}\r\n`
}

/** Sends this, reads nothing for a while, and is gone without a word. */
async function sendAndLeave(address: { host: string; port: number }, text: string, afterMs: number): Promise<void> {
  const socket = connect(address)
  socket.on('error', () => {}) // the server may close it first
  socket.pause()
  socket.write(text)
  await sleep(50 + afterMs)
  socket.resetAndDestroy()
}

/** A request whose caller goes away while the server works on it. */
async function giveUp({ url }: SoakClient, afterMs: number): Promise<void> {
  const body = JSON.stringify({ task: 'rubiks_cube', seed: 1, count: 8 })
  const headers = { 'content-type': 'application/json' }
  await fetch(`${url}/items`, { method: 'POST', headers, body, signal: AbortSignal.timeout(afterMs) })
    .then((response) => response.arrayBuffer())
    .catch(() => {}) // given up
}
