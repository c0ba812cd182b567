/** Reads an antiderivative as the library's parser does, where it is certain what that makes of the text. */
import { type Expr, hasSymbol } from '../expressions/expr.ts'
import { NotIntegerError } from '../expressions/operators.ts'
import { parseExpression } from '../expressions/parser.ts'
import { ExpressionSyntaxError, KEYWORDS, UnsupportedExpressionError } from '../expressions/tokens.ts'
import { strip } from '../python/text.ts'

/** What is longer is rare, and could take more than 10 ms. */
const MAX_CHARS = 4000

export interface ExpressionReading {
  kind: 'expression'
  /** Length of the text. */
  chars: number
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

/** No quotes, comments or subscripts, and no letters but ASCII. */
const READABLE_PATTERN = /^[ \r\n!$%&()*+,\-./0-9:;<=>?@A-Z\\^_`a-z{|}~−∫×÷√]*$/
const KEYWORD_SOURCE = `(?:True|False|${KEYWORDS})(?![A-Za-z0-9_])`
/** Words with which Python may leave a part of the text unevaluated, or read it in another way. */
const KEYWORD_PATTERN = new RegExp(`(?<![A-Za-z0-9_])${KEYWORD_SOURCE}`)
/** Two names side by side, as in a sentence: no Python, whatever stands before and after them. */
const ADJACENT_NAMES_PATTERN = new RegExp(
  `(?<![A-Za-z0-9_.])(?!${KEYWORD_SOURCE})[A-Za-z_][A-Za-z0-9_]*[ \\r\\n]+(?!${KEYWORD_SOURCE})[A-Za-z_]`,
)
const LINE_END_PATTERN = /[\r\n]/
/** LaTeX, sets, equations, and signs that no Python has. */
const INVALID_PATTERN = /[$?\\`{}−∫×÷√]|(?<![<>=!:])=(?!=)/
/** What `parse_expr` would look up among sympy's names is left to it, but for these. */
const FUNCTION_NAMES = 'sin cos tan cot sec csc asin acos atan sinh cosh tanh exp log ln sqrt'.split(' ')
const KNOWN_NAMES = new Set([...FUNCTION_NAMES, 'pi', 'arcsin', 'arccos', 'arctan', 'dx', 'const', 'constant'])
const BARE_FUNCTION_PATTERN = new RegExp(`(?<![A-Za-z0-9_])(?:${FUNCTION_NAMES.join('|')})(?![A-Za-z0-9_]| *\\()`)
/** Short names that sympy has; any other is a symbol, or a function of no further meaning. */
const SYMPY_NAMES = new Set(
  `N O Q S CC Ci E1 EX Ei Eq FF FU GF Ge Gt Id LC LM LT Le Li Lt Ne Or QQ RR Si ZZ ff fu id im jn li oo re rf yn Abs Add And Chi ITE
  Idx Max Min Mod Mul Nor Not Pow Ray Rel Rem Set Shi Sum Xor Ynm Znm abs all any arg ask bin chr cse deg det dir div erf eye fft fps
  gcd gff hex hn1 hn2 lcm len lex max min nan ntt oct ord per pow quo rad rem sqf sum use var zoo`.split(/\s+/),
)
const SHORT_NAME_PATTERN = /^[A-Za-z][A-Za-z0-9]{0,2}$/
const NAME_PATTERN = /(?<![A-Za-z0-9_.])[A-Za-z_][A-Za-z0-9_]*/g
/** What is left may be read by the grammar of `parser.ts`. */
const PLAIN_PATTERN = /^[ ()*+\-./0-9A-Z^_a-z]*$/

export function readAntiderivative(text: string, variable: string): AntiderivativeReading {
  if (text.length > MAX_CHARS) return { kind: 'unknown' }
  const bare = strip(text)
  if (!READABLE_PATTERN.test(bare)) return { kind: 'unknown' }
  // no expression begins so, but `dual_format` asks for every answer with its tags, too
  if (bare.startsWith('<') || ADJACENT_NAMES_PATTERN.test(bare)) return { kind: 'invalid' }
  if (LINE_END_PATTERN.test(bare) || KEYWORD_PATTERN.test(bare)) return { kind: 'unknown' }
  if (INVALID_PATTERN.test(bare)) return { kind: 'invalid' }
  if (!PLAIN_PATTERN.test(bare)) return { kind: 'unknown' }
  const areNamesKnown = (bare.match(NAME_PATTERN) ?? []).every(
    (name) => KNOWN_NAMES.has(name) || (SHORT_NAME_PATTERN.test(name) && !SYMPY_NAMES.has(name)),
  )
  const isVariableCalled = new RegExp(`(?<![A-Za-z0-9_.])(?:${variable}|C) *\\(`).test(bare)
  if (isVariableCalled || BARE_FUNCTION_PATTERN.test(bare)) return { kind: 'invalid' }
  let hasConstantCall = false
  try {
    const value = parseExpression(bare, (args) => {
      hasConstantCall ||= args.some((arg) => !hasSymbol(arg, variable))
    })
    const decimals = readDecimals(bare)
    const chars = bare.length
    return areNamesKnown ? { kind: 'expression', chars, value, decimals, hasConstantCall } : { kind: 'unknown' }
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
