/** The places of OpenEnv's WebSockets in one process: who gets one, and who makes room. */
import { afterEach, expect, it } from 'vitest'
import { OpenEnvSockets } from '../../../src/features/adapters/openenv/sockets.ts'

const ROOM_IDLE_MS = 1000

function createSocket(keyId: string | undefined, idleMs = 0) {
  const closed: number[] = []
  const close = (code: number) => closed.push(code) === 1
  return { keyId, idleMs, unfinishedBytes: 0, close, finish: async () => {}, terminate: () => {}, closed }
}

let sockets: OpenEnvSockets
function openSockets(maxSockets: number): void {
  sockets = new OpenEnvSockets({ maxSockets, idleMs: 3_600_000, roomIdleMs: ROOM_IDLE_MS, maxUnfinishedBytes: 1 })
}
const added: ReturnType<typeof createSocket>[] = []
function add(keyId: string | undefined, idleMs?: number) {
  const socket = createSocket(keyId, idleMs)
  added.push(socket)
  return sockets.add(socket)
}
afterEach(async () => {
  for (const socket of added.splice(0)) sockets.delete(socket)
  await sockets.close()
})

it('one key gets three quarters of the places at most', () => {
  openSockets(8)
  for (let k = 0; k < 6; k++) expect(add('greedy')).toBeUndefined()
  const message = expect.stringContaining('6 connections of one API key at most, of 8')
  expect(add('greedy')).toEqual({ max: 6, message })
  for (const key of ['other', 'third']) expect(add(key)).toBeUndefined()
  expect(add('fourth')).toMatchObject({ max: 8 })
  for (const socket of added) if (socket.keyId === 'greedy') sockets.delete(socket)
  expect(add('greedy')).toBeUndefined()
})

it('a key that has its share makes room among its own silent connections', () => {
  openSockets(4)
  for (const idleMs of [0, 2 * ROOM_IDLE_MS, 3 * ROOM_IDLE_MS]) add('key', idleMs)
  add('other', 4 * ROOM_IDLE_MS)
  expect(add('key')).toBeUndefined()
  expect(added.map(({ closed }) => closed.length)).toEqual([0, 0, 1, 0, 0])
})

it('a server without keys gives one caller all places', () => {
  openSockets(4)
  for (let k = 0; k < 4; k++) expect(add(undefined)).toBeUndefined()
  expect(add(undefined)).toMatchObject({ max: 4 })
})

it('the only place is for any key', () => {
  openSockets(1)
  expect(add('any')).toBeUndefined()
})

it('when all places are taken, the longest silent connection makes room, and no busy one', () => {
  openSockets(3)
  for (const idleMs of [ROOM_IDLE_MS - 1, 2 * ROOM_IDLE_MS, 5 * ROOM_IDLE_MS]) add(undefined, idleMs)
  const [busy, quiet, silent] = added
  const listClosed = () => [busy, quiet, silent].map((socket) => socket?.closed)
  expect(add('new')).toBeUndefined()
  expect(listClosed()).toEqual([[], [], [1001]])
  expect(add('newer')).toBeUndefined()
  expect(listClosed()).toEqual([[], [1001], [1001]])
  expect(add('newest')).toMatchObject({ max: 3 })
})
