/**
 * The limits of model-written expressions and literals. `src/engine/python/safe_eval.py` says what each is for and reads the same
 * numbers from the file beside it; `test/scorers/safe-eval-limits.test.ts` compares the two: an answer must score the same in
 * TypeScript as in Python.
 */
export const SAFE_EVAL_LIMITS = {
  literal_chars: 131_072,
  expression_chars: 16_384,
  depth: 50,
  terms: 1000,
  factors: 100,
  calls: 200,
  operators: 200,
  leaves: 10_000,
  bits: 1024,
  factorial_argument: 170,
  float_chars: 400,
}
