/** The words of an expression, as Python's tokenizer cuts them, and nothing that an expression has no use for. */
import { PyError } from '../python/numbers.ts'
import { PY_W, strip } from '../python/text.ts'

/** The text is no value, or too big a one: an answer that is wrong whatever it means. */
export class UnsupportedExpressionError extends PyError {}

/** The text is no expression in Python's grammar, or one of what is no function. */
export class ExpressionSyntaxError extends UnsupportedExpressionError {}

export type ExpressionToken =
  | { kind: 'number'; text: string }
  | { kind: 'name'; text: string }
  | { kind: 'operator'; text: string }

/** Of Python 3.11, but for True and False, which are names of values: the source of a regular expression. */
export const KEYWORDS =
  'None|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield'

const DIGITS_SOURCE = '[0-9](?:_?[0-9])*'
const EXPONENT_SOURCE = `[eE][\\-+]?${DIGITS_SOURCE}`
const FLOAT_SOURCE = `(?:(?:${DIGITS_SOURCE}\\.(?:${DIGITS_SOURCE})?|\\.${DIGITS_SOURCE})(?:${EXPONENT_SOURCE})?|${DIGITS_SOURCE}${EXPONENT_SOURCE})`
const INTEGER_SOURCE = '0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?0)*|[1-9](?:_?[0-9])*'
const INVALID_SOURCE_PATTERN = /\0|\p{Cs}/u
const DOUBLED_OPERATORS = new Set(['*', '/'])
const BLANK_PATTERN = /(?:[ \f\t]|\\\r?\n)*/y
const COMMENT_PATTERN = /#[^\r\n]*/y
const NUMBER_PATTERN = new RegExp(`(?:${FLOAT_SOURCE}|${DIGITS_SOURCE})[jJ]|${FLOAT_SOURCE}|${INTEGER_SOURCE}`, 'vy')
const NAME_PATTERN = new RegExp(`[\\p{XID_Start}_]${PY_W}*`, 'vy')
// Longest first, so that `a!=b` and `a***b` are cut as Python cuts them.
const OPERATOR_PATTERN = /\*\*=|\/\/=|\*\*|\/\/|[=!<>]=|!{1,2}(?!=)|!|<<|>>|->|:=|[-+*/%^&|]=|[-+*/%^&|(),]/y
const NEWLINE_PATTERN = /\r?\n/y
/**
 * A carriage return, or a backslash with blanks behind it, that the tokenizer has no word for: sympy forgets the factorials
 * before it and hands it on to Python, which sees the end of a line, or with the backslash none.
 */
const UNKNOWN_LINE_END_PATTERN = /(?:[ \f\t!]|\\\r?\n)*(?:\\?\r(?!\n)|\\[ \f\t]+\r?\n)/y
const LINE_JOIN_PATTERN = /\\[ \f\t]*\r?\n?$/

/**
 * Throws UnsupportedExpressionError at a character that no expression has. Line ends count only outside brackets, where nothing may follow.
 * Signs that stand apart are one as sympy writes them out again: `2* *3` is `2**3`.
 */
export function tokenizeExpression(text: string): ExpressionToken[] {
  const bare = strip(text)
  if (INVALID_SOURCE_PATTERN.test(bare))
    throw new UnsupportedExpressionError('no source of Python, not even in a comment')
  const tokens: ExpressionToken[] = []
  let [at, depth, isOver, isLineStart] = [0, 0, false, true]
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(bare)?.[0]
    at += found?.length ?? 0
    return found
  }
  const endLine = (isJoined: boolean) => {
    isOver ||= depth === 0 && tokens.length > 0 && !isJoined
    isLineStart = true
  }
  while (true) {
    const unknown = take(UNKNOWN_LINE_END_PATTERN)
    if (unknown !== undefined) {
      endLine(LINE_JOIN_PATTERN.test(unknown))
      continue
    }
    const gap = take(BLANK_PATTERN) ?? ''
    if (take(COMMENT_PATTERN) !== undefined) continue
    if (at === bare.length) return tokens
    if (take(NEWLINE_PATTERN) !== undefined) {
      endLine(false)
      continue
    }
    const isApart = /[ \f\t]$/.test(gap)
    const token = isOver ? undefined : readToken(take)
    if (token === undefined || ((isApart || isLineStart) && /^!+$/.test(token.text)))
      throw new ExpressionSyntaxError('no word of an expression')
    if (token.text === '(') depth++
    if (token.text === ')') depth--
    if (!isLineStart && DOUBLED_OPERATORS.has(token.text) && tokens.at(-1)?.text === token.text)
      token.text += tokens.pop()?.text
    tokens.push(token)
    isLineStart = false
  }
}

function readToken(take: (pattern: RegExp) => string | undefined): ExpressionToken | undefined {
  const digitsText = take(NUMBER_PATTERN)
  if (digitsText !== undefined) return { kind: 'number', text: digitsText }
  const word = take(NAME_PATTERN)
  if (word !== undefined) return { kind: 'name', text: word }
  const sign = take(OPERATOR_PATTERN)
  return sign === undefined ? undefined : { kind: 'operator', text: sign }
}
