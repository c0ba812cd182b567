/** Python's `complex(text)`. */
import { PyValueError, parseFloat64, toAscii, withoutUnderscores } from './numbers.ts'

const float = '(?:(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?|inf(?:inity)?|nan)'
const forms = new RegExp(
  `^(?:(?<real>[+-]?${float})(?:(?<signed>[+-]${float}?)j)?|(?<imaginary>[+-]?${float}?)j)$`,
  'i',
)

/** Real and imaginary part; throws PyValueError. */
export function parseComplex(text: string): [real: number, imaginary: number] {
  const bare = unbracketed(trim(withoutUnderscores(toAscii(text))))
  const { real, signed, imaginary } = forms.exec(bare)?.groups ?? {}
  if (real !== undefined) return [parseFloat64(real), signed === undefined ? 0 : coefficient(signed)]
  if (imaginary !== undefined) return [0, coefficient(imaginary)]
  throw new PyValueError('no complex')
}

function coefficient(text: string): number {
  return text === '' || text === '+' ? 1 : text === '-' ? -1 : parseFloat64(text)
}

function unbracketed(text: string): string {
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
