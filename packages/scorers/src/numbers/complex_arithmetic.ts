/** e^(-distance) from the number wanted; `nan` is at no distance at all. Rule of `reasoning_gym/algebra/complex_arithmetic.py`. */
import { z } from 'zod'
import { parseComplex } from '../python/complex.ts'
import { PyValueError, parseFloat64 } from '../python/numbers.ts'
import { lower } from '../python/text.ts'
import { defineScorer, InvalidAnswerError } from '../scorer.ts'
import { TypedFloat, typedPair } from './typed-schemas.ts'

type ComplexPair = [real: number, imaginary: number]

export const complexArithmetic = defineScorer({
  metadata: z.looseObject({ result: typedPair(TypedFloat) }),
  score(answer, entry) {
    const given = parseComplexAnswer(answer)
    if (given === undefined) return 0
    const [real, imaginary] = entry.metadata.result
    const [x, y] = [given[0] - real, given[1] - imaginary]
    const distance = Math.hypot(x, y)
    if (distance === Infinity && Number.isFinite(x) && Number.isFinite(y))
      throw new InvalidAnswerError('too far to measure')
    return Number.isNaN(distance) ? 1 : Math.exp(-distance)
  },
})

function parseComplexAnswer(answer: string): ComplexPair | undefined {
  try {
    return parseComplexText(removeBrackets(lower(answer.replaceAll(' ', ''))).replaceAll('i', 'j'))
  } catch (error) {
    if (error instanceof PyValueError) return undefined
    throw error
  }
}

function parseComplexText(text: string): ComplexPair | undefined {
  if (!text.includes('j')) return [parseFloat64(text), 0]
  if (text === 'j' || text === '-j') return [0, text === 'j' ? 1 : -1]
  if (isImaginary(text)) return [0, parseFloat64(text.slice(0, -1))]
  if (!text.endsWith('j')) return undefined
  return parseComplex(text.replaceAll('+j', '+1j').replaceAll('-j', '-1j'))
}

/** One coefficient and `j`; after a minus the last character may be any, as the library has it. */
function isImaginary(text: string): boolean {
  const signed = (from: number) => /[+-]/.test(text.slice(from, -1))
  return (text.endsWith('j') && !signed(0)) || (text.startsWith('-') && !signed(1))
}

function removeBrackets(text: string): string {
  let [start, end] = [0, text.length]
  while (end - start > 1 && text[start] === '(' && text[end - 1] === ')') {
    start++
    end--
  }
  return text.slice(start, end)
}
