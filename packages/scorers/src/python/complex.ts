/** Python's `complex(text)`. */
import { PyValueError, parseFloat64, removeUnderscores, toAscii } from './numbers.ts'

const FLOAT_SOURCE = '(?:(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?|inf(?:inity)?|nan)'
const COMPLEX_PATTERN = new RegExp(
  `^(?:(?<real>[+-]?${FLOAT_SOURCE})(?:(?<signed>[+-]${FLOAT_SOURCE}?)j)?|(?<imaginary>[+-]?${FLOAT_SOURCE}?)j)$`,
  'i',
)

/** Real and imaginary part; throws PyValueError. */
export function parseComplex(text: string): [real: number, imaginary: number] {
  const bare = removeBrackets(trim(removeUnderscores(toAscii(text))))
  const { real, signed, imaginary } = COMPLEX_PATTERN.exec(bare)?.groups ?? {}
  if (real !== undefined) return [parseFloat64(real), signed === undefined ? 0 : parseCoefficient(signed)]
  if (imaginary !== undefined) return [0, parseCoefficient(imaginary)]
  throw new PyValueError('no complex')
}

function parseCoefficient(text: string): number {
  return text === '' || text === '+' ? 1 : text === '-' ? -1 : parseFloat64(text)
}

function removeBrackets(text: string): string {
  return text.startsWith('(') && text.endsWith(')') ? trim(text.slice(1, -1)) : text
}

/** White space as C has it; `toAscii` has made all other spaces of it. */
function trim(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isSpace(text[start])) start++
  while (end > start && isSpace(text[end - 1])) end--
  return text.slice(start, end)
}

function isSpace(ch: string | undefined): boolean {
  return ch === ' ' || (ch !== undefined && ch >= '\t' && ch <= '\r')
}
