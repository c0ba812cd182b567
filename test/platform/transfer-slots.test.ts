import { afterEach, expect, it } from 'vitest'
import { type Transfer, TransferSlots } from '../../src/platform/transfer-slots.ts'
import { until } from '../world.ts'

const SLOW_MS = 400
let slots: TransferSlots
afterEach(() => slots.close())

const create = (waitMs = 60_000) => {
  slots = new TransferSlots({ slots: 4, waitMs, slowMs: SLOW_MS, setting: 'LARGE_BODIES' })
}
function transfer(caller: string, { bytesPerMs = 0, isIdle = false } = {}) {
  const begun = performance.now()
  const closing = new AbortController()
  let dropped = false
  const made: Transfer = {
    caller,
    countBytes: () => bytesPerMs * (performance.now() - begun),
    isIdle: () => isIdle,
    closed: closing.signal,
    drop: () => (dropped = true),
  }
  return { transfer: made, leave: () => closing.abort(new Error('left')), isDropped: () => dropped }
}
const BUSY = { isIdle: true }
const acquire = (caller: string, how: { bytesPerMs?: number; isIdle?: boolean } = BUSY) =>
  slots.acquire(transfer(caller, how).transfer)

it('as many transfers run as there are slots, the others in their order', async () => {
  create()
  const releases = await Promise.all(['a', 'b', 'c', 'd'].map((caller) => acquire(caller)))
  const started: string[] = []
  const waiting = ['e', 'f'].map(async (caller) => {
    const release = await acquire(caller)
    started.push(caller)
    return release
  })
  expect([slots.used, started]).toEqual([4, []])
  releases[2]?.()
  releases[2]?.() // releases one slot only
  await waiting[0]
  expect([slots.used, started]).toEqual([4, ['e']])
  releases[0]?.()
  await waiting[1]
  expect(started).toEqual(['e', 'f'])
})

it('one caller leaves a quarter to the others', async () => {
  create()
  const mine = Array.from({ length: 10 }, () => acquire('mine'))
  await mine[2]
  expect(slots.used).toBe(3)
  await acquire('other')
  expect(slots.used).toBe(4)
})

it('a transfer that must not wait is rejected without a free slot', async () => {
  create()
  await Promise.all(['a', 'b', 'c'].map((caller) => acquire(caller)))
  const impatient = { ...transfer('d', BUSY).transfer, mayWait: false }
  await slots.acquire(impatient)
  await expect(slots.acquire(impatient)).rejects.toMatchObject({ code: 'server_busy' })
})

it('a transfer that waits too long is rejected, and one whose client leaves waits no longer', async () => {
  create(200)
  await Promise.all(['a', 'b', 'c', 'd'].map((caller) => acquire(caller)))
  const { transfer: left, leave } = transfer('e')
  const waiting = slots.acquire(left)
  leave()
  await expect(waiting).rejects.toThrow('left')
  await expect(slots.acquire(left)).rejects.toThrow('left')
  await expect(acquire('f')).rejects.toMatchObject({ code: 'server_busy' })
})

it('a transfer does not wait while the server stands still', async () => {
  create(1000)
  const releases = await Promise.all(['a', 'b', 'c', 'd'].map((caller) => acquire(caller)))
  const waiting = acquire('e')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000)
  setTimeout(() => releases[0]?.(), SLOW_MS / 4) // after the next check
  await waiting
})

it('slow transfers are dropped while others wait, but not those that move or wait for the server', async () => {
  create()
  const all = [transfer('a'), transfer('b', { bytesPerMs: 200 }), transfer('c', BUSY), transfer('d')]
  for (const one of all) await slots.acquire(one.transfer)
  await new Promise((resolve) => setTimeout(resolve, SLOW_MS))
  expect(all.map(({ isDropped }) => isDropped())).toEqual([false, false, false, false])
  const next = [acquire('e'), acquire('f')]
  await Promise.all(next)
  expect(all.map(({ isDropped }) => isDropped())).toEqual([true, false, false, true])
  await until(
    async () => slots.used,
    (used) => used === 4,
  )
})
