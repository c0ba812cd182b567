/**
 * The limits of model-written expressions and literals. `src/engine/python/safe_eval.py` reads the same file and says what each
 * limit is for: an answer must score the same in TypeScript as in Python.
 */
import { readFileSync } from 'node:fs'
import { z } from 'zod'

const Limit = z.int().positive()
const Limits = z.strictObject({
  literal_chars: Limit,
  expression_chars: Limit,
  depth: Limit,
  terms: Limit,
  factors: Limit,
  calls: Limit,
  operators: Limit,
  leaves: Limit,
  bits: Limit,
  factorial_argument: Limit,
  float_chars: Limit,
})

const FILE = new URL('../engine/python/safe_eval_limits.json', import.meta.url)

export const SAFE_EVAL_LIMITS = Limits.parse(JSON.parse(readFileSync(FILE, 'utf8')))
