import { expect, it } from 'vitest'
import { buildExploits, GARBAGE_ANSWERS } from '../src/check/hostile-answers.ts'
import { generateMutants } from '../src/check/mutants.ts'
import { seededRandom } from '../src/seeded-random.ts'

it('hostile answers name the marker and the port, and repeated parts are written out', () => {
  const texts = Object.fromEntries(buildExploits('/tmp/marker', 77).map(({ name, text }) => [name, text]))
  expect(Object.keys(texts).length).toBeGreaterThan(100)
  expect(texts['code: a process']).toBe("__import__('os').system('touch /tmp/marker')")
  expect(texts['code: a socket']).toContain("('127.0.0.1', 77)")
  expect(texts['nested brackets']).toBe('['.repeat(20_000) + ']'.repeat(20_000))
  expect(Object.keys(JSON.parse(texts['many keys'] ?? ''))).toHaveLength(5000)
  expect(JSON.stringify(texts)).not.toMatch(/\{(?:marker|port)\}/)
  expect(GARBAGE_ANSWERS).toContain('9'.repeat(400))
})

it('mutants begin with the right answer, and equal seeds make equal ones', () => {
  const mutants = generateMutants('(1, 2)', '42', 200, seededRandom(1))
  expect(mutants).toHaveLength(200)
  expect(mutants[0]).toBe('(1, 2)')
  expect(new Set(mutants).size).toBeGreaterThan(100)
  expect(generateMutants('(1, 2)', '42', 200, seededRandom(1))).toEqual(mutants)
})
