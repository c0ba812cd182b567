import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ByteRoom } from '../src/byte-room.ts'

it('lets in what fits, and the others in their order as others leave', () => {
  const [room, inside] = [new ByteRoom(10), [] as string[]]
  for (const [name, bytes] of [
    ['a', 6],
    ['b', 6],
    ['c', 4],
  ] as const)
    room.ask(bytes, () => void inside.push(name))
  expect(inside).toEqual(['a']) // c does not pass b, which would wait for ever where small ones keep coming
  expect(room.waiting).toBe(2)
  room.leave(6)
  expect(inside).toEqual(['a', 'b', 'c'])
  expect(room.waiting).toBe(0)
})

it('lets in alone what is larger than all of it', () => {
  const [room, inside] = [new ByteRoom(10), [] as string[]]
  room.ask(1, () => void inside.push('small'))
  room.ask(50, () => void inside.push('large'))
  room.ask(1, () => void inside.push('next'))
  expect(inside).toEqual(['small'])
  room.leave(1)
  expect(inside).toEqual(['small', 'large'])
  room.leave(50)
  expect(inside).toEqual(['small', 'large', 'next'])
})

it('forgets who no longer waits, and lets in those behind', () => {
  const [room, inside] = [new ByteRoom(10), [] as string[]]
  const first = room.ask(5, () => void inside.push('first'))
  const large = room.ask(10, () => void inside.push('large'))
  room.ask(5, () => void inside.push('behind'))
  expect([first.cancel(), large.cancel(), large.cancel()]).toEqual([false, true, false])
  expect(inside).toEqual(['first', 'behind'])
})

it('is left when the work ends, also when it fails', async () => {
  const [room, done] = [new ByteRoom(10), [] as number[]]
  const works = [1, 2, 3].map((k) =>
    room.within(10, async () => {
      await turn()
      done.push(k)
      if (k === 2) throw new Error('two')
    }),
  )
  expect((await Promise.allSettled(works)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(done).toEqual([1, 2, 3])
})
