import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { WeightedSemaphore } from '../../src/platform/weighted-semaphore.ts'

it('admits what fits, and the rest in order as others release', () => {
  const room = new WeightedSemaphore(10)
  const inside: string[] = []
  for (const [name, bytes] of [
    ['a', 6],
    ['b', 6],
    ['c', 4],
  ] as const)
    room.acquire(bytes, () => void inside.push(name))
  expect(inside).toEqual(['a']) // c does not pass b, which would wait for ever where small ones keep coming
  expect(room.waitingCount).toBe(2)
  room.release(6)
  expect(inside).toEqual(['a', 'b', 'c'])
  expect(room.waitingCount).toBe(0)
})

it('runs a request larger than its capacity alone', () => {
  const room = new WeightedSemaphore(10)
  const inside: string[] = []
  room.acquire(1, () => void inside.push('small'))
  room.acquire(50, () => void inside.push('large'))
  room.acquire(1, () => void inside.push('next'))
  expect(inside).toEqual(['small'])
  room.release(1)
  expect(inside).toEqual(['small', 'large'])
  room.release(50)
  expect(inside).toEqual(['small', 'large', 'next'])
})

it('drops a canceled waiter and admits those behind it', () => {
  const room = new WeightedSemaphore(10)
  const inside: string[] = []
  const first = room.acquire(5, () => void inside.push('first'))
  const large = room.acquire(10, () => void inside.push('large'))
  room.acquire(5, () => void inside.push('behind'))
  expect([first.cancel(), large.cancel(), large.cancel()]).toEqual([false, true, false])
  expect(inside).toEqual(['first', 'behind'])
})

it('is released when the work ends, even if it fails', async () => {
  const room = new WeightedSemaphore(10)
  const done: number[] = []
  const works = [1, 2, 3].map((k) =>
    room.withPermits(10, async () => {
      await turn()
      done.push(k)
      if (k === 2) throw new Error('two')
    }),
  )
  expect((await Promise.allSettled(works)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(done).toEqual([1, 2, 3])
})
