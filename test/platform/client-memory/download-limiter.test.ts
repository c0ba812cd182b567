import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { DownloadLimiter, type ReplyReader } from '../../../src/platform/client-memory/download-limiter.ts'

const LIMIT = 100
const SLOW_MS = 10_000
const PACE = 300 * 1024

let memory: DownloadLimiter
let dropped: string[]
beforeEach(() => {
  vi.useFakeTimers()
  dropped = []
  memory = new DownloadLimiter({ limitBytes: LIMIT, waitMs: 3 * SLOW_MS, slowMs: SLOW_MS })
})
afterEach(() => {
  memory.close()
  vi.useRealTimers()
})

interface FakeReader extends ReplyReader {
  taken: number
  idle: boolean
  leave(): void
}

function reader(name: string, idle = false): FakeReader {
  const closing = new AbortController()
  return {
    taken: 0,
    idle,
    closed: closing.signal,
    takenBytes(this: FakeReader) {
      return this.taken
    },
    isIdle(this: FakeReader) {
      return this.idle
    },
    drop: () => void dropped.push(name),
    leave: () => closing.abort(),
  }
}

it('drops readers that are slow while another one waits, and no others', async () => {
  const silent = reader('silent')
  const reading = reader('reading')
  const idle = reader('idle', true)
  for (const one of [silent, reading, idle]) memory.hold(one)
  const pace = setInterval(() => {
    reading.taken += PACE
  }, 1000)
  await vi.advanceTimersByTimeAsync(10 * SLOW_MS)
  expect(dropped).toEqual([]) // nobody waits
  const all = memory.reserve(LIMIT)
  const waiting = memory.waitFor(reader('waiting'), memory.reserve(1).granted)
  await vi.advanceTimersByTimeAsync(SLOW_MS)
  expect(dropped).toEqual(['silent'])
  all.release()
  await waiting
  clearInterval(pace)
})

it('drops nobody for a reply that waits for Redis while there is memory', async () => {
  memory.hold(reader('silent'))
  const { promise: fromRedis, resolve } = Promise.withResolvers<void>()
  const waiting = memory.waitFor(reader('waiting'), fromRedis)
  await vi.advanceTimersByTimeAsync(2 * SLOW_MS)
  expect(dropped).toEqual([])
  resolve()
  await waiting
})

it('gives up on memory that does not come in time, or whose reader has left', async () => {
  memory.reserve(LIMIT)
  const patient = memory.waitFor(reader('patient'), memory.reserve(1).granted)
  const leaving = reader('leaving')
  const left = memory.waitFor(leaving, memory.reserve(1).granted)
  leaving.leave()
  await expect(left).rejects.toBe(leaving.closed.reason)
  const refused = expect(patient).rejects.toMatchObject({ code: 'server_busy' })
  await vi.advanceTimersByTimeAsync(3 * SLOW_MS)
  await refused
})

it('never grants more than its limit, and grants everything in the end', () => {
  const sizes = fc.array(fc.tuple(fc.integer({ min: 1, max: 150 }), fc.nat(150)), { maxLength: 30 })
  fc.assert(
    fc.property(sizes, fc.infiniteStream(fc.boolean()), (wanted, coin) => {
      const left = wanted.map(([bytes, shrunk]) => ({ reservation: memory.reserve(bytes), shrunk }))
      for (const { reservation, shrunk } of left) {
        expect(memory.reservedBytes).toBeLessThanOrEqual(LIMIT)
        if (coin.next().value) reservation.shrinkTo(shrunk)
        reservation.release()
        reservation.release() // once is enough
      }
      expect(memory.reservedBytes).toBe(0)
    }),
  )
})
