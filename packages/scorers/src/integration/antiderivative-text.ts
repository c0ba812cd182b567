/** Reads an antiderivative as the library's parser does, where it is certain what that makes of the text. */
import { type Expr, hasSymbol } from '../expressions/expr.ts'
import { NotIntegerError } from '../expressions/operators.ts'
import { parseExpression } from '../expressions/parser.ts'
import { ExpressionSyntaxError, UnsupportedExpressionError } from '../expressions/tokens.ts'
import { strip } from '../python/text.ts'

/** What is longer or has more brackets is rare, and could take more than a millisecond. */
const MAX_CHARS = 400
const MAX_BRACKETS = 40

export interface ExpressionReading {
  kind: 'expression'
  value: Expr
  /** None; only in a sum of numbers times powers; only such as are short binary fractions; others. */
  decimals: 'none' | 'polynomial' | 'short' | 'rounded'
  /** A function of a constant may have no value, as log(0), also where it is multiplied by zero. */
  hasConstantCall: boolean
}

export type AntiderivativeReading =
  | ExpressionReading
  /** The library raises, whatever else the text holds. */
  | { kind: 'invalid' }
  /** The library raises if this is no whole number. */
  | { kind: 'invalid_unless_integer'; value: Expr }
  | { kind: 'unknown' }

/** No quotes, comments, lines or subscripts, and no letters but ASCII. */
const READABLE_PATTERN = /^[ !$%&()*+,\-./0-9:;<=>?@A-Z\\^_`a-z{|}~−∫×÷√]*$/
/** Words with which Python may leave a part of the text unevaluated, or read it in another way. */
const KEYWORD_PATTERN =
  /(?<![A-Za-z0-9_])(?:None|True|False|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)(?![A-Za-z0-9_])/
/** LaTeX, sets, equations, and signs that no Python has. */
const INVALID_PATTERN = /[$?\\`{}−∫×÷√]|(?<![<>=!:])=(?!=)/
/** What `parse_expr` would look up among sympy's names is left to it, but for these. */
const FUNCTION_NAMES = 'sin cos tan cot sec csc asin acos atan sinh cosh tanh exp log ln sqrt'.split(' ')
const KNOWN_NAMES = new Set([...FUNCTION_NAMES, 'pi', 'arcsin', 'arccos', 'arctan', 'dx', 'const', 'constant'])
const BARE_FUNCTION_PATTERN = new RegExp(`(?<![A-Za-z0-9_])(?:${FUNCTION_NAMES.join('|')})(?![A-Za-z0-9_]| *\\()`)
/** Any letter but those that sympy uses: a symbol, or a function of no further meaning. */
const LETTER_PATTERN = /^(?:[A-DF-HJ-MPRT-Za-z]|E|I)$/
const NAME_PATTERN = /(?<![A-Za-z0-9_.])[A-Za-z_][A-Za-z0-9_]*/g
/** What is left may be read by the grammar of `parser.ts`. */
const PLAIN_PATTERN = /^[ ()*+\-./0-9A-Z^_a-z]*$/

export function readAntiderivative(text: string, variable: string): AntiderivativeReading {
  if (text.length > MAX_CHARS) return { kind: 'unknown' }
  const bare = strip(text)
  if (!READABLE_PATTERN.test(bare) || KEYWORD_PATTERN.test(bare)) return { kind: 'unknown' }
  if (INVALID_PATTERN.test(bare)) return { kind: 'invalid' }
  if (!PLAIN_PATTERN.test(bare) || bare.split('(').length > MAX_BRACKETS) return { kind: 'unknown' }
  const areNamesKnown = (bare.match(NAME_PATTERN) ?? []).every(
    (name) => KNOWN_NAMES.has(name) || LETTER_PATTERN.test(name),
  )
  const isVariableCalled = new RegExp(`(?<![A-Za-z0-9_.])(?:${variable}|C) *\\(`).test(bare)
  if (isVariableCalled || BARE_FUNCTION_PATTERN.test(bare)) return { kind: 'invalid' }
  let hasConstantCall = false
  try {
    const value = parseExpression(bare, (args) => {
      hasConstantCall ||= args.some((arg) => !hasSymbol(arg, variable))
    })
    const decimals = readDecimals(bare)
    return areNamesKnown ? { kind: 'expression', value, decimals, hasConstantCall } : { kind: 'unknown' }
  } catch (error) {
    if (error instanceof ExpressionSyntaxError) return { kind: 'invalid' }
    if (error instanceof NotIntegerError && areNamesKnown)
      return { kind: 'invalid_unless_integer', value: error.operand }
    if (error instanceof UnsupportedExpressionError) return { kind: 'unknown' }
    throw error
  }
}

const DECIMAL_PATTERN = /(?<![A-Za-z0-9_])(?:\d+\.\d*|\.\d+)(?![0-9eEjJ_])/g
const EXPONENT_PATTERN = /\d[eEjJ_]/
/** Numbers times powers of the variable: each decimal is multiplied once, and rounded as `numbers.ts` does. */
const MONOMIAL_SOURCE = '(?:(?:\\d+(?:\\.\\d+)?|\\.\\d+) ?\\* ?)?[A-Za-z](?: ?\\*\\* ?\\d{1,3})?'
const DECIMAL_POLYNOMIAL_PATTERN = new RegExp(`^[+\\-]? ?${MONOMIAL_SOURCE}(?: ?[+\\-] ?${MONOMIAL_SOURCE})*$`)
const MAX_DECIMAL = 1000

function readDecimals(text: string): ExpressionReading['decimals'] {
  const decimals = (text.match(DECIMAL_PATTERN) ?? []).map(Number)
  if (EXPONENT_PATTERN.test(text) || decimals.some((value) => value >= MAX_DECIMAL)) return 'rounded'
  if (decimals.length === 0) return 'none'
  if (DECIMAL_POLYNOMIAL_PATTERN.test(text)) return 'polynomial'
  return decimals.every((value) => Number.isInteger(value * 1024)) ? 'short' : 'rounded'
}
