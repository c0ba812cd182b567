import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { openWorld, until, type World } from '../world.ts'

const MIB = 1024 ** 2
/** More than the kernel takes for a client that does not read. */
const COMPLETION_BYTES = 12 * MIB
/** One caller gets at most three quarters: three of each. */
const SLOTS = 4

/** Others wait for three times as long. */
const SLOW_MS = 1000

let world: World
const sockets = new Set<Socket>()
let url: string
let itemId: string

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    LARGE_REPLIES: SLOTS,
    LARGE_BODIES: SLOTS,
    SLOW_CLIENT_S: SLOW_MS / 1000,
  })
  url = await world.app.listen({ port: 0, host: '127.0.0.1' })
  itemId = (await world.call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items[0].id
  await world.call('PUT', '/runs/large', { batch_size: 1, group_size: 1, drop_equal_scores: false })
  for (const letter of ['a', 'b']) {
    const rollouts = [{ completion: `${letter.repeat(COMPLETION_BYTES)}<answer>100</answer>` }]
    const group = { run: 'large', item_id: itemId, group_id: letter, rollouts }
    expect((await world.call('POST', '/rollouts', group, { prefer: 'wait=30' })).status).toBe(200)
  }
  for (const step of [0, 1]) expect((await world.call('POST', '/runs/large/batches', { step })).status).toBe(200)
})

afterEach(() => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
})
afterAll(() => world.close())

const slotsInUse = (direction: 'bodies' | 'replies') => async () => world.platform.transfers[direction].used

/** Sends a request, and reads nothing of the reply. */
async function sendOnly(text: string, to = world): Promise<{ socket: Socket; closed: Promise<unknown> }> {
  const { port } = to.app.server.address() as AddressInfo // it listens on a port
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  sockets.add(socket)
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  socket.pause().write(text)
  return { socket, closed }
}

function takeAllSlots(direction: 'bodies' | 'replies', { platform } = world): Promise<(() => void)[]> {
  const closed = new AbortController().signal
  const busy = { countBytes: () => 0, isIdle: () => true, closed, drop() {} }
  const callers = Array.from({ length: SLOTS }, (_, k) => `caller-${k}`)
  return Promise.all(callers.map((caller) => platform.transfers[direction].acquire({ ...busy, caller })))
}

async function countSlowClients(direction: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`rgs_http_slow_clients_total\\{direction="${direction}"\\} (\\d+)`).exec(text)?.[1] ?? 0)
}

const GET = 'GET /runs/large/batches/0 HTTP/1.1\r\nHost: localhost\r\n\r\n'

it('silent readers are dropped when another reader needs a slot', async () => {
  const silent = await Promise.all(Array.from({ length: 3 }, () => sendOnly(GET)))
  await until(slotsInUse('replies'), (used) => used === 3)
  const other = await fetch(`${url}/runs/large/batches/1`)
  expect(other.status).toBe(200)
  const { groups } = (await other.json()) as { groups: { group_id: string; rollouts: { completion: string }[] }[] }
  expect(groups.map(({ group_id, rollouts }) => [group_id, rollouts[0]?.completion.length])).toEqual([
    ['b', COMPLETION_BYTES + '<answer>100</answer>'.length],
  ])
  expect(await countSlowClients('out')).toBeGreaterThan(0)
  for (const { socket } of silent) socket.destroy()
  await until(slotsInUse('replies'), (used) => used === 0)
})

it('a silent reader may take its time while no other waits, and its slot is free when it leaves', async () => {
  const { socket, closed } = await sendOnly(GET)
  await until(slotsInUse('replies'), (used) => used === 1)
  const dropped = await countSlowClients('out')
  await new Promise((resolve) => setTimeout(resolve, 2 * SLOW_MS)) // twice as long as others would let it
  expect([await countSlowClients('out'), socket.destroyed]).toEqual([dropped, false])
  socket.destroy()
  await closed
  await until(slotsInUse('replies'), (used) => used === 0)
})

it('a reply for which no slot is free in time is a 503 that can be retried, whether it streams or not', async () => {
  const items = { task: 'leg_counting', seeds: Array.from({ length: 400 }, (_, k) => k) }
  const releases = await takeAllSlots('replies')
  try {
    for (const { status, body, headers } of await Promise.all([
      world.call('GET', '/runs/large/batches/0'),
      world.call('POST', '/runs/large/batches', { step: 1 }),
      world.call('POST', '/items', items),
    ])) {
      expect([status, body.code, headers['retry-after']]).toEqual([503, 'server_busy', '5'])
    }
  } finally {
    for (const release of releases) release()
  }
  expect((await world.call('GET', '/runs/large/batches/0')).status).toBe(200)
  const { status, headers, body } = await world.call('POST', '/items', items)
  expect([status, body.items.length]).toEqual([200, 400])
  expect(Number(headers['content-length'])).toBeGreaterThan(256 * 1024)
  await until(slotsInUse('replies'), (used) => used === 0)
})

const post =
  'POST /rollouts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60000000\r\n\r\n'

it('bodies that stop half-sent keep no other client from posting, and get a 408', async () => {
  const large = { item_id: itemId, rollouts: [{ completion: 'x'.repeat(400_000) }] }
  for (const run of ['beside', 'behind']) await world.call('PUT', `/runs/${run}`, {})
  const silent = await Promise.all(Array.from({ length: 40 }, () => sendOnly(`${post}{"item_id": "`)))
  expect((await world.call('POST', '/rollouts', { ...large, run: 'beside' })).status).toBe(202)

  const half = await Promise.all(
    Array.from({ length: 10 }, () => sendOnly(`${post}{"item_id": "${'x'.repeat(1_000_000)}`)),
  )
  await until(slotsInUse('bodies'), (used) => used === 3)
  expect((await world.call('POST', '/rollouts', { ...large, run: 'behind' })).status).toBe(202)
  const [last] = half.splice(-3) // nothing waits for the slots of the last ones
  const slow = await expectTimeouts(half)
  expect(await countSlowClients('in')).toBeGreaterThanOrEqual(slow)
  expect(last?.socket.destroyed).toBe(false)
  for (const socket of sockets) socket.destroy()
  await until(slotsInUse('bodies'), (used) => used === 0)
  expect(silent.every(({ socket }) => socket.destroyed)).toBe(true)
})

const CHUNKED = 'Host: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'

it('a large body in chunks does not wait for a slot, where it would take much memory', async () => {
  const patient = await openWorld({ LARGE_BODIES: SLOTS, SLOW_CLIENT_S: 20 })
  await patient.app.listen({ port: 0, host: '127.0.0.1' })
  const releases = await takeAllSlots('bodies', patient)
  let hasWaited = false
  const large = { item_id: itemId, rollouts: [{ completion: 'x'.repeat(400_000) }] }
  const waiting = patient.call('POST', '/score', large).then(() => (hasWaited = true))
  for (const first of ['', `10001\r\n${' '.repeat(0x10001)}\r\n`]) {
    const body = `${first}${'1\r\n \r\n'.repeat(100_000)}`
    const { socket } = await sendOnly(`POST /rollouts HTTP/1.1\r\n${CHUNKED}${body}`, patient)
    const [answer] = (await once(socket.resume(), 'data')) as [Buffer]
    expect([answer.toString(), hasWaited]).toEqual([expect.stringMatching(/^HTTP\/1\.1 503 .*server_busy/s), false])
  }
  for (const release of releases) release()
  await waiting
  for (const socket of sockets) socket.destroy() // their bodies have no end, and it would wait for them
  await patient.close()
})

it('the body of a GET is discarded while its reply streams', async () => {
  const { socket } = await sendOnly(`GET /events HTTP/1.1\r\n${CHUNKED}`)
  socket.write(`${(16 * MIB).toString(16)}\r\n${'x'.repeat(16 * MIB)}\r\n`) // more than the kernel takes
  expect(
    await until(
      async () => socket.writableLength,
      (bytes) => bytes === 0,
    ),
  ).toBe(0)
})

/** Each has its answer, and the end of its connection behind it. Returns how many got 408; the others found no slot in time. */
async function expectTimeouts(sockets: { socket: Socket; closed: Promise<unknown> }[]): Promise<number> {
  const areSlow = await Promise.all(
    sockets.map(async ({ socket, closed }) => {
      let answer = ''
      socket.on('data', (bytes: Buffer) => {
        answer += bytes.toString()
        if (answer.includes('server_busy')) socket.destroy()
      })
      socket.resume()
      await closed
      expect(answer).toMatch(/^HTTP\/1\.1 (408 .*request_timeout|503 .*server_busy)/s)
      return answer.includes('request_timeout')
    }),
  )
  expect(areSlow).toContain(true)
  return areSlow.filter(Boolean).length
}
