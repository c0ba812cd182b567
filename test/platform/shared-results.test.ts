import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { shareNextRun } from '../../src/platform/shared-results.ts'

const BY_KEY = { keyOf: (key: string) => key }

it('calls of the same turn share a read, which starts after all of them', async () => {
  let now = 0
  const begun: string[] = []
  const read = shareNextRun(async (key: string) => {
    begun.push(key)
    return `${key}${now}`
  }, BY_KEY)
  const asked = [read('a'), read('a'), read('b')]
  expect(begun).toEqual([])
  now = 1
  expect(await Promise.all(asked)).toEqual(['a1', 'a1', 'b1'])
  expect(begun).toEqual(['a', 'b'])
})

it('a read in progress is not shared: its value may be older than the call', async () => {
  const { promise: answer, resolve } = Promise.withResolvers<void>()
  let begun = 0
  const read = shareNextRun(async (_key: string) => {
    const mine = ++begun
    await answer
    return mine
  }, BY_KEY)
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
  const read = shareNextRun(async (_key: string) => {
    if (fails) throw new Error('away')
    return 'back'
  }, BY_KEY)
  const asked = await Promise.allSettled([read('a'), read('a')])
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  fails = false
  expect(await read('a')).toBe('back')
})

const ONE_AT_A_TIME = { keyOf: ([key]: [key: string, argument: unknown]) => key, oneAtATime: true }

describe('one run at a time', () => {
  it('runs once more for all calls that came meanwhile', async () => {
    const begun: string[] = []
    const release: (() => void)[] = []
    const run = shareNextRun(async ([, name]: [key: string, name: string]) => {
      begun.push(name)
      await new Promise<void>((resolve) => release.push(resolve))
      return begun.length
    }, ONE_AT_A_TIME)
    const first = run(['a', 'first'])
    await turn()
    await turn()
    const second = run(['a', 'second'])
    const third = run(['a', 'third'])
    const other = run(['b', 'other'])
    await turn()
    expect(begun).toEqual(['first', 'other'])
    release[0]?.()
    expect(await first).toBe(2)
    await turn()
    expect(begun).toEqual(['first', 'other', 'second'])
    for (const end of release) end()
    expect(await Promise.all([second, third, other])).toEqual([3, 3, 3])
  })

  it('goes on after a run that failed', async () => {
    const run = shareNextRun(async ([, fails]: [key: string, fails: boolean]) => {
      if (fails) throw new Error('failed')
      return 'done'
    }, ONE_AT_A_TIME)
    await expect(run(['a', true])).rejects.toThrow('failed')
    expect(await run(['a', false])).toBe('done')
  })
})
