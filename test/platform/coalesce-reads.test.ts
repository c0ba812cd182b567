import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { coalesceReads } from '../../src/platform/coalesce-reads.ts'

it('calls of the same turn share a read, which starts after all of them', async () => {
  let now = 0
  const begun: string[] = []
  const read = coalesceReads(async (key: string) => {
    begun.push(key)
    return `${key}${now}`
  })
  const asked = [read('a'), read('a'), read('b')]
  expect(begun).toEqual([])
  now = 1
  expect(await Promise.all(asked)).toEqual(['a1', 'a1', 'b1'])
  expect(begun).toEqual(['a', 'b'])
})

it('a read in progress is not shared: its value may be older than the call', async () => {
  const { promise: answer, resolve } = Promise.withResolvers<void>()
  let begun = 0
  const read = coalesceReads(async () => {
    const mine = ++begun
    await answer
    return mine
  })
  const first = read('a')
  await turn()
  await turn()
  expect(begun).toBe(1)
  const second = read('a')
  resolve()
  expect(await Promise.all([first, second])).toEqual([1, 2])
})

it('a failure rejects all calls that shared the read, and is not kept', async () => {
  let fails = true
  const read = coalesceReads(async () => {
    if (fails) throw new Error('away')
    return 'back'
  })
  const asked = await Promise.allSettled([read('a'), read('a')])
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  fails = false
  expect(await read('a')).toBe('back')
})
