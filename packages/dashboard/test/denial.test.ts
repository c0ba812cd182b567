import { expect, it } from 'vitest'
import { denial } from './pure.ts'

const reader = { role: 'reader', runs: null }
const trainer = { role: 'trainer', runs: ['mine'] }

it.each([
  [undefined, 'admin', undefined, undefined],
  [{ role: 'admin', runs: null }, 'evaluator', 'any', undefined],
  [reader, 'trainer', undefined, /needs a key with the role trainer or admin. Your key has the role reader/],
  [trainer, 'trainer', 'mine', undefined],
  [trainer, 'scorer', undefined, undefined],
  [trainer, 'trainer', 'other', /bound to mine and may not change other/],
  [trainer, 'evaluator', 'mine', /role evaluator or admin/],
  [trainer, 'misspelled', 'mine', /role admin/],
])('%j and what needs %s on %s', (caller, need, run, why) => {
  const said = denial.describeDenial(caller, need, run)
  if (why === undefined) expect(said).toBeUndefined()
  else expect(said).toMatch(why)
})
