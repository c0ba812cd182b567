import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { openWorld, until, type World } from '../world.ts'

const MIB = 1024 ** 2
/** More than the kernel takes for a client that does not read. */
const COMPLETION_BYTES = 12 * MIB
/** Room for one of the groups below at a time. */
const REPLIES_MAX_BYTES = 48 * MIB

/** Others wait for three times as long. */
const SLOW_MS = 1000

let world: World
let port: number
const sockets = new Set<Socket>()
let url: string
let itemId: string

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    REPLIES_MAX_BYTES,
    BODIES_MAX_BYTES: 32 * MIB,
    SLOW_CLIENT_S: SLOW_MS / 1000,
  })
  await world.app.listen({ port: 0, host: '127.0.0.1' })
  ;({ port } = world.app.server.address() as AddressInfo) // it listens on a port
  url = `http://127.0.0.1:${port}`
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

const replies = () => world.platform.clientMemory.replies
const bodies = () => world.platform.clientMemory.bodies

/** Sends a request, and reads nothing of the reply. */
async function sendOnly(text: string): Promise<{ socket: Socket; closed: Promise<unknown> }> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  sockets.add(socket)
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  socket.pause().write(text)
  return { socket, closed }
}

async function countSlowClients(direction: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`rgs_http_slow_clients_total\\{direction="${direction}"\\} (\\d+)`).exec(text)?.[1] ?? 0)
}

it('silent readers share what they hold, and are dropped when another reader needs the memory', async () => {
  const get = 'GET /runs/large/batches/0 HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const silent = await Promise.all(Array.from({ length: 3 }, () => sendOnly(get)))
  await until(
    async () => replies().reservedBytes,
    (bytes) => bytes >= COMPLETION_BYTES,
  )
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, replies().reservedBytes)
  }, 1)
  const other = await fetch(`${url}/runs/large/batches/1`)
  expect(other.status).toBe(200)
  const { groups } = (await other.json()) as { groups: { group_id: string; rollouts: { completion: string }[] }[] }
  clearInterval(watch)
  expect(groups.map(({ group_id, rollouts }) => [group_id, rollouts[0]?.completion.length])).toEqual([
    ['b', COMPLETION_BYTES + '<answer>100</answer>'.length],
  ])
  expect(most).toBeLessThanOrEqual(REPLIES_MAX_BYTES)
  for (const { socket } of silent) socket.resume() // what the kernel holds; the end comes behind it
  await Promise.all(silent.map(({ closed }) => closed))
  expect(await countSlowClients('out')).toBe(silent.length)
  expect(replies().reservedBytes).toBe(0)
})

it('a silent reader may take its time while nobody waits, and what it holds is released when it leaves', async () => {
  const { socket, closed } = await sendOnly('GET /runs/large/batches/0 HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await until(
    async () => replies().reservedBytes,
    (bytes) => bytes >= COMPLETION_BYTES,
  )
  const dropped = await countSlowClients('out')
  await new Promise((resolve) => setTimeout(resolve, 2 * SLOW_MS)) // twice as long as others would let it
  expect([await countSlowClients('out'), socket.destroyed]).toEqual([dropped, false])
  socket.destroy()
  await closed
  await until(
    async () => replies().reservedBytes,
    (bytes) => bytes === 0,
  )
})

it('a reply for which there is no memory in time is a 503 that can be retried, whether it streams or not', async () => {
  const items = { task: 'leg_counting', seeds: Array.from({ length: 400 }, (_, k) => k) }
  const all = replies().reserve(REPLIES_MAX_BYTES)
  try {
    for (const busy of await Promise.all([
      world.call('GET', '/runs/large/batches/0'),
      world.call('POST', '/runs/large/batches', { step: 1 }),
      world.call('POST', '/items', items),
    ])) {
      expect([busy.status, busy.body.code, busy.headers['retry-after']]).toEqual([503, 'server_busy', '5'])
    }
  } finally {
    all.release()
  }
  expect((await world.call('GET', '/runs/large/batches/0')).status).toBe(200)
  const { status, headers, body } = await world.call('POST', '/items', items)
  expect([status, body.items.length]).toEqual([200, 400])
  expect(Number(headers['content-length'])).toBeGreaterThan(256 * 1024)
  expect(replies().reservedBytes).toBe(0)
})

const post =
  'POST /rollouts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60000000\r\n\r\n'

it('bodies that stop half-sent keep nobody from posting, and get a 408', async () => {
  const large = { item_id: itemId, rollouts: [{ completion: 'x'.repeat(400_000) }] }
  const half = await Promise.all(Array.from({ length: 40 }, () => sendOnly(`${post}{"item_id": "`)))
  expect((await world.call('POST', '/rollouts', { ...large, run: 'beside' })).status).toBe(202)
  await expectTimeouts(half)

  const full = await Promise.all(
    Array.from({ length: 40 }, () => sendOnly(`${post}{"item_id": "${'x'.repeat(1_000_000)}`)),
  )
  await until(
    async () => bodies().heldBytes,
    (bytes) => bytes > 20 * MIB,
  )
  expect((await world.call('POST', '/rollouts', { ...large, run: 'behind' })).status).toBe(202)
  expect(bodies().heldBytes).toBeLessThanOrEqual(32 * MIB + 64 * MIB)
  await expectTimeouts(full)
  expect(await countSlowClients('in')).toBeGreaterThan(40)
  expect(bodies().heldBytes).toBe(0)
})

/** Each has its answer, and the end of its connection behind it. Those that waited for memory may have been refused. */
async function expectTimeouts(sockets: { socket: Socket; closed: Promise<unknown> }[]): Promise<void> {
  await Promise.all(
    sockets.map(async ({ socket, closed }) => {
      let answer = ''
      socket.on('data', (bytes: Buffer) => {
        answer += bytes.toString()
        if (answer.includes('server_busy')) socket.destroy()
      })
      socket.resume()
      await closed
      expect(answer).toMatch(/^HTTP\/1\.1 (408 .*request_timeout|503 .*server_busy)/s)
    }),
  )
}
