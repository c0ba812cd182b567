/** Equal to the value of the problem, in any base with its prefix. Rule of `reasoning_gym/arithmetic/bitwise_arithmetic.py`. */
import { z } from 'zod'
import { PyValueError, parseInteger } from '../python/numbers.ts'
import { defineScorer } from '../scorer.ts'

const TOKEN_PATTERN = /0x[0-9a-f]+|<<|>>|[()+*-]/g
const OPERATIONS: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '<<': (a, b) => a << b,
  '>>': (a, b) => a >> b,
}

export const bitwiseArithmetic = defineScorer({
  metadata: z.looseObject({ problem: z.string().transform(evaluateProblem) }),
  score(answer, entry) {
    try {
      return parseInteger(answer, 0) === entry.metadata.problem ? 1 : 0
    } catch (error) {
      if (error instanceof PyValueError) return 0
      throw error
    }
  },
})

/** The value of an expression of hexadecimal numbers in which every operation has its own brackets. */
function evaluateProblem(problem: string): bigint {
  const values: bigint[] = []
  const operators: string[] = []
  for (const [part] of problem.matchAll(TOKEN_PATTERN)) {
    if (part in OPERATIONS) operators.push(part)
    else if (part.startsWith('0x')) values.push(BigInt(part))
    else if (part === ')') {
      const [a, b] = values.splice(-2)
      const operation = OPERATIONS[operators.pop() ?? '']
      if (a === undefined || b === undefined || operation === undefined) throw new Error(`no expression: ${problem}`)
      values.push(operation(a, b))
    }
  }
  const [value, ...rest] = values
  if (value === undefined || rest.length + operators.length > 0) throw new Error(`no expression: ${problem}`)
  return value
}
