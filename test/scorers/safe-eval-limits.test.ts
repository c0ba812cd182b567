import { readFileSync } from 'node:fs'
import { SAFE_EVAL_LIMITS } from '@reasoning-gym-server/scorers/safe-eval-limits'
import { expect, it } from 'vitest'

it('the limits of expressions are equal in TypeScript and in Python', () => {
  const file = new URL('../../src/engine/python/safe_eval_limits.json', import.meta.url)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(SAFE_EVAL_LIMITS)
})
