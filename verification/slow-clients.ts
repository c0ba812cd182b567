/**
 * Clients that do not read, that read all at once, and that send half a body or drip it, against a real server: what its one
 * API process takes, and what the others notice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ApiWatch, readMetric } from './slow-clients/api-watch.ts'
import { countStatuses, openHalfSender, openSilentReader, type RawClient } from './slow-clients/raw-clients.ts'
import { call, requireBody } from './support/http.ts'
import { type ChildServer, startChildServer } from './support/with-server.ts'

const MIB = 1024 ** 2
const LIMIT_MB = 128
/** Less than the half-sent bodies come to. */
const BODIES_LIMIT_MB = 24
const SLOW_CLIENT_S = 3
/** What garbage collection leaves behind and the kernel's buffers hold, beside what is reserved. */
const SLACK_MB = 350
const WORST_LIVEZ_MS = 5000
const ACTIVE_READERS = 64
const SENDERS = 40
const ROLLOUTS = 20

const { values } = parseArgs({
  options: {
    readers: { type: 'string', default: '120' },
    mb: { type: 'string', default: '20' },
  },
})
const groupMb = Number(values.mb)
const readerCount = Number(values.readers)

const failures: string[] = []
const server = await startChildServer({
  API_PROCESSES: '1',
  WORKERS: '1',
  PYTHON_WORKERS: '1',
  LOG_LEVEL: 'warn',
  REPLIES_MAX_BYTES: String(LIMIT_MB * MIB),
  BODIES_MAX_BYTES: String(BODIES_LIMIT_MB * MIB),
  SLOW_CLIENT_S: String(SLOW_CLIENT_S),
})
try {
  await prove(server)
} finally {
  await server.stop()
}
for (const failure of failures) console.error(failure)
process.exitCode = failures.length === 0 ? 0 : 1

async function prove({ url, pid }: ChildServer): Promise<void> {
  const port = Number(new URL(url).port)
  const made = await requireBody('POST', `${url}/items`, { body: { task: 'leg_counting', seed: 42 } })
  const itemId: string = made.items[0].id
  for (let step = 0; step < 4; step++) await composeBatch(url, itemId, step)
  const watch = new ApiWatch(url, pid)
  await sleep(2000)
  const idleMb = watch.residentMb
  await watch.takeFigures()
  const report = async (what: string, growth: number, more: string) => {
    const { peakMb, worstLivezMs } = await watch.takeFigures()
    console.log(
      `${what}: memory ${idleMb.toFixed(0)} → ${peakMb.toFixed(0)} MB, worst /livez ${worstLivezMs.toFixed(0)} ms; ${more}`,
    )
    check(peakMb - idleMb <= growth, `${what}: grew by ${(peakMb - idleMb).toFixed(0)} MB, more than ${growth}`)
    check(worstLivezMs <= WORST_LIVEZ_MS, `${what}: /livez took ${worstLivezMs.toFixed(0)} ms`)
  }

  // Silent readers of four batches; then one that reads.
  const silent = await Promise.all(
    Array.from({ length: readerCount }, (_, k) => openSilentReader(port, `/runs/slow/batches/${k % 4}`)),
  )
  await sleep(3000)
  const [ms, bytes] = await timed(() => readAgain(`${url}/runs/slow/batches/3`))
  check(bytes > groupMb * 1e6, `a reader beside silent ones read ${bytes} bytes`)
  const dropped = await readMetric(url, 'rgs_http_slow_clients_total', 'out')
  await report(
    `${readerCount} silent readers of ${groupMb} MB`,
    LIMIT_MB + SLACK_MB,
    `another reader after ${seconds(ms)}, ${dropped} dropped`,
  )
  for (const { socket } of silent) socket.destroy()
  await settle(url, 'out')

  // Readers that read.
  const [activeMs] = await timed(() =>
    Promise.all(Array.from({ length: ACTIVE_READERS }, (_, k) => readAgain(`${url}/runs/slow/batches/${k % 2}`))),
  )
  await report(`${ACTIVE_READERS} readers of ${groupMb} MB`, LIMIT_MB + SLACK_MB, `all read in ${seconds(activeMs)}`)

  // Half-sent bodies: hardly begun, and as much as fills the memory. Then bodies that drip, far below and just above the floor.
  for (const [sent, bytesPerS] of [
    [13, 0],
    [1_000_000, 0],
    [1_000_000, 100],
    [1_000_000, 20_000],
  ] as const) {
    const senders = await Promise.all(
      Array.from({ length: SENDERS }, () => openHalfSender(port, '/rollouts', 60_000_000, sent)),
    )
    const drip = setInterval(() => {
      for (const { socket } of senders) if (socket.writable) socket.write('x'.repeat(bytesPerS / 10))
    }, 100)
    await sleep(1000)
    const posts = await postBeside(url, itemId, `half-${sent}-${bytesPerS}`)
    clearInterval(drip)
    await endAll(senders)
    const what = `${SENDERS} bodies of 60 MB, ${sent} bytes sent, then ${bytesPerS} a second`
    await report(what, LIMIT_MB + SLACK_MB, `${posts}; they got ${countStatuses(senders)}`)
  }
  await settle(url, 'in')
  await watch.stop()
}

function check(holds: boolean, failure: string): void {
  if (!holds) failures.push(failure)
}

/** A batch of one group of so many MB of text. */
async function composeBatch(url: string, itemId: string, step: number): Promise<void> {
  const text = 'abcdefghij'.repeat((groupMb * 1e5) / ROLLOUTS)
  const rollouts = Array.from({ length: ROLLOUTS }, (_, k) => ({
    completion: `${k} ${step} ${text}<answer>${k % 2 ? 100 : 1}</answer>`,
  }))
  const settings = { batch_size: ROLLOUTS, group_size: ROLLOUTS, drop_equal_scores: false }
  await requireBody('PUT', `${url}/runs/slow`, { body: settings })
  const group = { run: 'slow', item_id: itemId, group_id: `g${step}`, rollouts }
  await requireBody('POST', `${url}/rollouts`, { body: group, headers: { prefer: 'wait=60' } })
  await requireBody('POST', `${url}/runs/slow/batches`, { body: { step } })
}

/** The bytes of a reply, asked for again while the server is busy, as the Python client does. */
async function readAgain(url: string): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const response = await fetch(url)
    const { byteLength } = await response.arrayBuffer()
    if (response.ok) return byteLength
    if (response.status !== 503) throw new Error(`${url}: ${response.status}`)
    await sleep(Number(response.headers.get('retry-after')) * 1000)
  }
  throw new Error(`${url}: busy for too long`)
}

/** Large and small posts of others. */
async function postBeside(url: string, itemId: string, run: string): Promise<string> {
  const waits: number[] = []
  let refused = 0
  for (let k = 0; k < 5; k++) {
    const rollouts = [{ completion: 'y'.repeat(400_000) }, { completion: 'n' }]
    const start = performance.now()
    const body = { run, group_id: `beside-${k}`, item_id: itemId, rollouts }
    const { ok } = await call('POST', `${url}/rollouts`, { body })
    waits.push(performance.now() - start)
    if (!ok) refused++
  }
  check(refused === 0, `${run}: ${refused} of ${waits.length} posts of 400 kB were refused`)
  return `posts of 400 kB beside them took ${seconds(Math.max(...waits))} at most`
}

async function endAll(clients: RawClient[]): Promise<void> {
  await Promise.race([Promise.all(clients.map(({ closed }) => closed)), sleep(4 * SLOW_CLIENT_S * 1000)])
  for (const { socket } of clients) socket.destroy()
}

/** Until nothing is held for clients any more. */
async function settle(url: string, direction: 'in' | 'out'): Promise<void> {
  for (const until = Date.now() + 20_000; Date.now() < until; await sleep(100))
    if ((await readMetric(url, 'rgs_http_client_memory_bytes', direction)) === 0) return
  failures.push(`memory is still held for clients (${direction}), though they have left`)
}

async function timed<T>(work: () => Promise<T>): Promise<[number, T]> {
  const start = performance.now()
  const result = await work()
  return [performance.now() - start, result]
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
