import { describe, expect, it } from 'vitest'
import { runLatest } from '../../src/platform/run-latest.ts'

describe('runLatest', () => {
  it('runs once at a time for a key, and once more for all who came meanwhile', async () => {
    const begun: string[] = []
    const release: (() => void)[] = []
    const run = runLatest(async (name: string) => {
      begun.push(name)
      await new Promise<void>((resolve) => release.push(resolve))
      return begun.length
    })
    const first = run('a', 'first')
    await Promise.resolve()
    await Promise.resolve()
    const [second, third] = [run('a', 'second'), run('a', 'third')]
    const other = run('b', 'other')
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun).toEqual(['first', 'other'])
    release[0]?.()
    expect(await first).toBe(2)
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun).toEqual(['first', 'other', 'second'])
    for (const end of release) end()
    expect(await Promise.all([second, third, other])).toEqual([3, 3, 3])
  })

  it('goes on after a run that failed', async () => {
    const run = runLatest(async (fails: boolean) => {
      if (fails) throw new Error('failed')
      return 'done'
    })
    await expect(run('a', true)).rejects.toThrow('failed')
    expect(await run('a', false)).toBe('done')
  })
})
