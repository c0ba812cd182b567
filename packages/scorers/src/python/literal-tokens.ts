/** Splits a Python literal into tokens, as CPython 3.11's tokenizer does for `eval`. */

import { SAFE_EVAL_LIMITS } from '../safe-eval-limits.ts'
import { MAX_DIGITS, PyValueError } from './numbers.ts'
import { codePointLength } from './text.ts'
import { PyFloat, type PyValue } from './values.ts'

/** A constant's value (texts side by side stay apart, for the parser to join), or a bracket, comma, colon or operator. */
export type LiteralToken = { kind: 'constant'; value: PyValue } | { kind: 'sign'; text: string }

const HEAD_PATTERN = /^(?:[ \t\f]*(?:#[^\n]*)?\n)*(?:\\\n)*(?:[ \t]*\f)?/
const BLANK_PATTERN = /(?:[ \t\f]|\\\n(?!$)|#[^\n]*)+/y
/** The common case, for speed. */
const SMALL_INTEGER_PATTERN = /(?:0|[1-9]\d{0,8})(?![\w.])/y
const BASED_INTEGER_PATTERN = /0(?:[xX](?:_?[0-9a-fA-F])+|[oO](?:_?[0-7])+|[bB](?:_?[01])+)/y
const DECIMAL_PATTERN = /(?:(?:\d(?:_?\d)*)?\.\d(?:_?\d)*|\d(?:_?\d)*\.?)(?:[eE][+-]?\d(?:_?\d)*)?/y
const WORD_PATTERN = /[\p{L}\p{N}_]+/uy
const QUOTE_PATTERN = /([rRuU]?)('''|"""|'|")/y
const ESCAPE_PATTERN = /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/gs
const STRING_BODY_PATTERNS: Readonly<Record<string, RegExp>> = {
  "'": /([^'\\\n]*(?:\\.[^'\\\n]*)*)'/sy,
  '"': /([^"\\\n]*(?:\\.[^"\\\n]*)*)"/sy,
  "'''": /([^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*)'''/sy,
  '"""': /([^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*)"""/sy,
}
const SIGN_TOKENS = new Map<string, LiteralToken>([...'[](){},:+-*'].map((text) => [text, { kind: 'sign', text }]))
const CONSTANTS = new Map<string, PyValue>([
  ['None', null],
  ['True', true],
  ['False', false],
])
const ESCAPES: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '	',
  v: '\v',
}

/** Throws PyValueError for what is no token of a literal. The bounds are those of `parse_literal` in safe_eval.py. */
export function tokenizeLiteral(text: string): LiteralToken[] {
  checkShape(text)
  const code = text.replace(/^[ \t]+/, '').replace(/\r\n?/g, '\n')
  return new LiteralTokenizer(code).tokenize()
}

function checkShape(text: string): void {
  if (codePointLength(text) > SAFE_EVAL_LIMITS.literal_chars) throw new PyValueError('too long')
  if (!text.isWellFormed() || text.includes('\0')) throw new PyValueError('no text')
  let [depth, operators] = [0, 0]
  for (const ch of text) {
    if (ch === '[' || ch === '(' || ch === '{') depth++
    else if (ch === ']' || ch === ')' || ch === '}') depth--
    else if (ch === '+' || ch === '*') operators++
    if (depth > SAFE_EVAL_LIMITS.depth || operators > SAFE_EVAL_LIMITS.operators) throw new PyValueError('too much')
  }
}

class LiteralTokenizer {
  readonly #code: string
  readonly #tokens: LiteralToken[] = []
  #position: number
  #depth = 0

  constructor(code: string) {
    this.#code = code
    this.#position = HEAD_PATTERN.exec(code)?.[0].length ?? 0
    if (/^[ \t\f]/.test(code.slice(this.#position, this.#position + 1))) throw new PyValueError('indented')
  }

  tokenize(): LiteralToken[] {
    for (;;) {
      const ch = this.#peekNonBlank()
      if (ch === undefined) return this.#tokens
      if (ch === '\n' && this.#depth === 0) return this.#finish()
      if (ch === '\n') this.#position++
      else this.#tokens.push(this.#readToken(ch))
    }
  }

  /** The next character that is not blank. */
  #peekNonBlank(): string | undefined {
    if (' \t\f\\#'.includes(this.#code[this.#position] ?? 'end')) this.#take(BLANK_PATTERN)
    return this.#code[this.#position]
  }

  #readToken(ch: string): LiteralToken {
    const sign = SIGN_TOKENS.get(ch)
    if (sign !== undefined) return this.#readSign(ch, sign)
    if (ch === '.' || (ch >= '0' && ch <= '9')) return this.#readNumber()
    return this.#readText() ?? this.#readWord()
  }

  /** Nothing but blank lines and comments may follow; a last line of blanks alone is an indent. */
  #finish(): LiteralToken[] {
    const lines = this.#code.slice(this.#position + 1).split('\n')
    const good = lines.every((line, i) =>
      (i === lines.length - 1 ? /^(?:[ \t\f]*#[^\n]*)?$/ : /^[ \t\f]*(?:#[^\n]*)?$/).test(line),
    )
    if (!good) throw new PyValueError('more than one line')
    return this.#tokens
  }

  #readText(): LiteralToken | undefined {
    const [, prefix, quotes = ''] = this.#take(QUOTE_PATTERN) ?? []
    if (prefix === undefined) return undefined
    const body = STRING_BODY_PATTERNS[quotes] && this.#take(STRING_BODY_PATTERNS[quotes])?.[1]
    if (body === undefined) throw new PyValueError('a text without end')
    return { kind: 'constant', value: /^r$/i.test(prefix) ? body : body.replace(ESCAPE_PATTERN, decodeEscape) }
  }

  #readNumber(): LiteralToken {
    const short = this.#take(SMALL_INTEGER_PATTERN)
    if (short !== null) return { kind: 'constant', value: BigInt(short[0]) }
    const found = this.#take(BASED_INTEGER_PATTERN) ?? this.#take(DECIMAL_PATTERN)
    WORD_PATTERN.lastIndex = this.#position
    if (found === null || WORD_PATTERN.test(this.#code)) throw new PyValueError('a number that continues')
    return { kind: 'constant', value: parseNumber(found[0].replaceAll('_', '')) }
  }

  #readWord(): LiteralToken {
    const value = CONSTANTS.get(this.#take(WORD_PATTERN)?.[0] ?? '')
    if (value === undefined) throw new PyValueError('no token of a literal')
    return { kind: 'constant', value }
  }

  #readSign(ch: string, sign: LiteralToken): LiteralToken {
    if (ch === '*' && this.#code[this.#position + 1] === '*') throw new PyValueError('a power')
    this.#depth += '[({'.includes(ch) ? 1 : '])}'.includes(ch) ? -1 : 0
    this.#position++
    return sign
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#position
    const found = pattern.exec(this.#code)
    if (found !== null) this.#position += found[0].length
    return found
  }
}

function parseNumber(digits: string): PyValue {
  if (/^0[xob]/i.test(digits)) return BigInt(digits.toLowerCase())
  if (/[.e]/i.test(digits)) return new PyFloat(Number(digits))
  if (/^0+$/.test(digits)) return 0n
  if (digits.length > MAX_DIGITS || digits.startsWith('0')) throw new PyValueError('no int')
  return BigInt(digits)
}

/** An unknown escape stays as it is; `\N{…}` is not read. */
function decodeEscape(
  all: string,
  octal?: string,
  two?: string,
  four?: string,
  eight?: string,
  other?: string,
): string {
  if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8))
  const hex = two ?? four ?? eight
  if (hex !== undefined && Number.parseInt(hex, 16) <= 0x10ffff) return String.fromCodePoint(Number.parseInt(hex, 16))
  if (other === undefined || 'xuUN'.includes(other)) throw new PyValueError('no such escape')
  return ESCAPES[other] ?? all
}
