import { expect, it } from 'vitest'
import { patternOf } from '../../../verification/soak/redis-census.ts'

it.each([
  ['{rgs:run:train-7}:1:step-state:24', '{rgs:run:NAME}:N:step-state:N'],
  ['{rgs:run:short-31}:1:group:0a3f9c2b77', '{rgs:run:NAME}:N:group:N'],
  ['{rgs:generation-job:eval-01ab9c2e44f0}:events', '{rgs:generation-job:eval-ID}:events'],
  ['{rgs:item-entries:17}:gcd.7.0.WyIwLjEuMjUiLG51bGwse31d', '{rgs:item-entries:N}:N'],
  ['rgs:idempotency:5d41402abc4b2a76b9719d911017c592', 'rgs:idempotency:N'],
  ['{rgs:jobs}:score-group:wait', '{rgs:jobs}:score-group:wait'],
])('the pattern of %s has no IDs', (key, pattern) => {
  expect(patternOf(key)).toBe(pattern)
})
