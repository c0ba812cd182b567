import { expect, it } from 'vitest'
import { pause, poll, retry } from '../../src/platform/retry.ts'

it('polling ends with the first value, or with undefined when the time is up', async () => {
  let reads = 0
  const third = () => (++reads === 3 ? 'found' : undefined)
  expect(await poll(third, { everyMs: 1, timeoutMs: 10_000 })).toBe('found')
  expect(reads).toBe(3)
  expect(await poll(() => undefined, { everyMs: 1, timeoutMs: 20 })).toBeUndefined()
  expect(await poll(() => 'at once', { everyMs: 1, timeoutMs: 0 })).toBe('at once')
})

it('an abort ends a pause without an error, and polling with it', async () => {
  const closing = new AbortController()
  const polled = poll(() => undefined, { everyMs: 60_000, timeoutMs: 60_000, signal: closing.signal })
  const paused = pause(60_000, closing.signal)
  closing.abort()
  await expect(Promise.all([polled, paused])).resolves.toEqual([undefined, undefined])
})

it('a retry repeats the work with growing pauses until it succeeds or its caller gives up', async () => {
  const pauses: number[] = []
  let attempts = 0
  const work = async () => {
    if (++attempts < 5) throw new Error(`attempt ${attempts}`)
    return 'done'
  }
  const onError = (_error: unknown, nextPauseMs: number) => void pauses.push(nextPauseMs)
  expect(await retry(work, { pauseMs: 1, maxPauseMs: 4, onError })).toBe('done')
  expect(pauses).toEqual([1, 2, 4, 4])
  attempts = 0
  const giveUp = (error: unknown) => {
    throw error
  }
  await expect(retry(work, { pauseMs: 1, onError: giveUp })).rejects.toThrow('attempt 1')
})
