/** countdown and puzzle24: the numbers that an expression must have and the operators that it may have. */
import { z } from 'zod'
import { OPERATORS_PATTERN } from '../hardened/expressions.ts'
import type { Correction } from './correction.ts'

const Countdown = z.looseObject({ numbers: z.array(z.int()), target: z.int() })
const Puzzle24 = z.looseObject({ numbers: z.array(z.int()) })

const TOLERANCE = 1e-9

export const countdown: Correction = {
  reason: 'All numbers must be used and the target must not, though it can be one of the numbers.',
  clarification({ metadata }) {
    const { numbers, target } = Countdown.parse(metadata)
    return numbers.includes(target)
      ? 'Note: the target is one of the numbers too, and as such it must be in the expression.'
      : undefined
  },
}

export const puzzle24: Correction = {
  reason: 'Any four numbers and operators are paid, and the question does not say that all numbers must be used.',
  clarification({ question, metadata }) {
    const { numbers } = Puzzle24.parse(metadata)
    const operators = OPERATORS_PATTERN.exec(question)?.[1] ?? ''
    const notes = [
      ...(canBeMadeOfSome(numbers, 24) ? ['every number must be used exactly once'] : []),
      ...(!operators.includes('/') && canBeMade(numbers, 24, true) ? [`only ${operators} are allowed`] : []),
    ]
    return notes.length > 0 ? `Note: ${notes.join('; ')}.` : undefined
  },
}

/** Whether some of the numbers, but not all, are enough. */
function canBeMadeOfSome(numbers: readonly number[], target: number): boolean {
  return numbers.some((_, k) => {
    const rest = numbers.toSpliced(k, 1)
    return rest.length > 1 && (canBeMade(rest, target) || canBeMadeOfSome(rest, target))
  })
}

/** Tries each operation on each pair; `byDivision`: only with a division. */
function canBeMade(values: readonly number[], target: number, byDivision = false): boolean {
  if (values.length === 1) return !byDivision && Math.abs((values[0] ?? 0) - target) < TOLERANCE
  return values.some((a, i) =>
    values.slice(i + 1).some((b, k) => {
      const rest = values.toSpliced(i + k + 1, 1).toSpliced(i, 1)
      const quotients = [...(b === 0 ? [] : [a / b]), ...(a === 0 ? [] : [b / a])]
      return (
        [a + b, a * b, a - b, b - a].some((value) => canBeMade([value, ...rest], target, byDivision)) ||
        quotients.some((value) => canBeMade([value, ...rest], target))
      )
    }),
  )
}
