import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findSource, MUTANTS } from '../../verification/mutants/mutants.ts'

const ROOT = join(import.meta.dirname, '..', '..')

it('can apply each fault to the code of today, and name the tests that should notice', () => {
  for (const mutant of MUTANTS) {
    expect(findSource(ROOT, mutant)).toMatch(/\.(ts|lua|py)$/)
    for (const test of mutant.tests) expect(existsSync(join(ROOT, test)), test).toBe(true)
  }
})
