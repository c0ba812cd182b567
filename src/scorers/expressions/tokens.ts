/** The words of an expression, as Python's tokenizer cuts them, and nothing that an expression has no use for. */
import { PY_W, strip } from '../python/text.ts'
import { Refused } from './refused.ts'

export type Token =
  | { kind: 'number'; text: string }
  | { kind: 'name'; text: string }
  | { kind: 'operator'; text: string }

const digits = '[0-9](?:_?[0-9])*'
const exponent = `[eE][\\-+]?${digits}`
const float = `(?:(?:${digits}\\.(?:${digits})?|\\.${digits})(?:${exponent})?|${digits}${exponent})`
const whole = '0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?0)*|[1-9](?:_?[0-9])*'
const NO_SOURCE = /\0|\p{Cs}/u
const DOUBLED = new Set(['*', '/'])
const blank = /(?:[ \f\t]|\\\r?\n)*/y
const comment = /#[^\r\n]*/y
const number = new RegExp(`(?:${float}|${digits})[jJ]|${float}|${whole}`, 'vy')
const name = new RegExp(`[\\p{XID_Start}_]${PY_W}*`, 'vy')
// Longest first, so that `a!=b` and `a***b` are cut as Python cuts them.
const operator = /\*\*=|\/\/=|\*\*|\/\/|[=!<>]=|!{1,2}(?!=)|!|<<|>>|->|:=|[-+*/%^&|]=|[-+*/%^&|(),]/y
const newline = /\r?\n/y
/**
 * A carriage return, or a backslash with blanks behind it, that the tokenizer has no word for: sympy forgets the factorials
 * before it and hands it on to Python, which sees the end of a line, or with the backslash none.
 */
const unknownEnd = /(?:[ \f\t!]|\\\r?\n)*(?:\\?\r(?!\n)|\\[ \f\t]+\r?\n)/y
const joinsLines = /\\[ \f\t]*\r?\n?$/

/**
 * Throws Refused at a character that no expression has. Line ends count only outside brackets, where nothing may follow.
 * Signs that stand apart are one as sympy writes them out again: `2* *3` is `2**3`.
 */
export function tokensOf(text: string): Token[] {
  const bare = strip(text)
  if (NO_SOURCE.test(bare)) throw new Refused('no source of Python, not even in a comment')
  const tokens: Token[] = []
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
    const unknown = take(unknownEnd)
    if (unknown !== undefined) {
      endLine(joinsLines.test(unknown))
      continue
    }
    const gap = take(blank) ?? ''
    if (take(comment) !== undefined) continue
    if (at === bare.length) return tokens
    if (take(newline) !== undefined) {
      endLine(false)
      continue
    }
    const isApart = /[ \f\t]$/.test(gap)
    const token = isOver ? undefined : nextToken(take)
    if (token === undefined || ((isApart || isLineStart) && /^!+$/.test(token.text)))
      throw new Refused('no word of an expression')
    if (token.text === '(') depth++
    if (token.text === ')') depth--
    if (!isLineStart && DOUBLED.has(token.text) && tokens.at(-1)?.text === token.text) token.text += tokens.pop()?.text
    tokens.push(token)
    isLineStart = false
  }
}

function nextToken(take: (pattern: RegExp) => string | undefined): Token | undefined {
  const digitsText = take(number)
  if (digitsText !== undefined) return { kind: 'number', text: digitsText }
  const word = take(name)
  if (word !== undefined) return { kind: 'name', text: word }
  const sign = take(operator)
  return sign === undefined ? undefined : { kind: 'operator', text: sign }
}
