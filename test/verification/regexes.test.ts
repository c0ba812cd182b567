import { expect, it, vi } from 'vitest'
import { describeSuperLinear, listRegexPatterns } from '../../verification/regexes.ts'

it('no regular expression of the server takes more than linear time', { timeout: 60_000 }, async () => {
  vi.resetModules() // a module constructs its expressions when it is loaded, and an earlier test may have loaded it
  const patterns = await listRegexPatterns(['src', 'routes'])
  expect(patterns.length).toBeGreaterThan(150)
  expect(patterns.some(({ source }) => source.includes('Move disk'))).toBe(true) // those that are put together count too
  const dear = patterns.flatMap((pattern) =>
    describeSuperLinear(pattern).map((why) => `${pattern.file}: /${pattern.source}/${pattern.flags} is ${why}`),
  )
  expect(dear).toEqual([])
})

it('would find one', () => {
  expect(describeSuperLinear({ file: '', source: '^(a+)+$', flags: '' })).not.toEqual([])
  expect(describeSuperLinear({ file: '', source: '\\s*,\\s*$', flags: '' })).not.toEqual([])
})
