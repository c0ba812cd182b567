/** Splits a Python literal into tokens, as CPython 3.11's tokenizer does for `eval`. */

import { MAX_DIGITS, PyValueError } from './numbers.ts'
import { length } from './text.ts'
import { PyFloat, type PyValue } from './values.ts'

/** A constant's value (texts side by side stay apart, for the parser to join), or a bracket, comma, colon or operator. */
export type Token = { kind: 'constant'; value: PyValue } | { kind: 'sign'; text: string }

const MAX_CHARS = 131_072
const MAX_BRACKETS = 50
const MAX_OPERATORS = 200

const head = /^(?:[ \t\f]*(?:#[^\n]*)?\n)*(?:\\\n)*(?:[ \t]*\f)?/
const blank = /(?:[ \t\f]|\\\n(?!$)|#[^\n]*)+/y
/** The common case, for speed. */
const plain = /(?:0|[1-9]\d{0,8})(?![\w.])/y
const based = /0(?:[xX](?:_?[0-9a-fA-F])+|[oO](?:_?[0-7])+|[bB](?:_?[01])+)/y
const decimal = /(?:(?:\d(?:_?\d)*)?\.\d(?:_?\d)*|\d(?:_?\d)*\.?)(?:[eE][+-]?\d(?:_?\d)*)?/y
const word = /[\p{L}\p{N}_]+/uy
const quote = /([rRuU]?)('''|"""|'|")/y
const backslash = /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/gs
const bodies: Readonly<Record<string, RegExp>> = {
  "'": /([^'\\\n]*(?:\\.[^'\\\n]*)*)'/sy,
  '"': /([^"\\\n]*(?:\\.[^"\\\n]*)*)"/sy,
  "'''": /([^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*)'''/sy,
  '"""': /([^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*)"""/sy,
}
const signs = new Map<string, Token>([...'[](){},:+-*'].map((text) => [text, { kind: 'sign', text }]))
const constants = new Map<string, PyValue>([
  ['None', null],
  ['True', true],
  ['False', false],
])
const escaped: Readonly<Record<string, string>> = {
  ...{ '\n': '', '\\': '\\', "'": "'", '"': '"', a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
}

/** Throws PyValueError for what is no token of a literal. The bounds are those of `read_literal` in reading.py. */
export function tokens(text: string): Token[] {
  checkShape(text)
  const code = text.replace(/^[ \t]+/, '').replace(/\r\n?/g, '\n')
  return new Tokens(code).all()
}

function checkShape(text: string): void {
  if (length(text) > MAX_CHARS) throw new PyValueError('too long')
  if (!text.isWellFormed() || text.includes('\0')) throw new PyValueError('no text')
  let [depth, operators] = [0, 0]
  for (const ch of text) {
    if (ch === '[' || ch === '(' || ch === '{') depth++
    else if (ch === ']' || ch === ')' || ch === '}') depth--
    else if (ch === '+' || ch === '*') operators++
    if (depth > MAX_BRACKETS || operators > MAX_OPERATORS) throw new PyValueError('too much')
  }
}

class Tokens {
  readonly #code: string
  readonly #found: Token[] = []
  #at: number
  #depth = 0

  constructor(code: string) {
    this.#code = code
    this.#at = head.exec(code)?.[0].length ?? 0
    if (/^[ \t\f]/.test(code.slice(this.#at, this.#at + 1))) throw new PyValueError('indented')
  }

  all(): Token[] {
    for (;;) {
      const ch = this.#next()
      if (ch === undefined) return this.#found
      if (ch === '\n' && this.#depth === 0) return this.#end()
      if (ch === '\n') this.#at++
      else this.#found.push(this.#token(ch))
    }
  }

  /** The next character that is not blank. */
  #next(): string | undefined {
    if (' \t\f\\#'.includes(this.#code[this.#at] ?? 'end')) this.#take(blank)
    return this.#code[this.#at]
  }

  #token(ch: string): Token {
    const sign = signs.get(ch)
    if (sign !== undefined) return this.#sign(ch, sign)
    if (ch === '.' || (ch >= '0' && ch <= '9')) return this.#number()
    return this.#text() ?? this.#word()
  }

  /** Nothing but blank lines and comments may follow; a last line of blanks alone is an indent. */
  #end(): Token[] {
    const lines = this.#code.slice(this.#at + 1).split('\n')
    const good = lines.every((line, i) =>
      (i === lines.length - 1 ? /^(?:[ \t\f]*#[^\n]*)?$/ : /^[ \t\f]*(?:#[^\n]*)?$/).test(line),
    )
    if (!good) throw new PyValueError('more than one line')
    return this.#found
  }

  #text(): Token | undefined {
    const [, prefix, quotes = ''] = this.#take(quote) ?? []
    if (prefix === undefined) return undefined
    const body = bodies[quotes] && this.#take(bodies[quotes])?.[1]
    if (body === undefined) throw new PyValueError('a text without end')
    return { kind: 'constant', value: /^r$/i.test(prefix) ? body : body.replace(backslash, meant) }
  }

  #number(): Token {
    const short = this.#take(plain)
    if (short !== null) return { kind: 'constant', value: BigInt(short[0]) }
    const found = this.#take(based) ?? this.#take(decimal)
    word.lastIndex = this.#at
    if (found === null || word.test(this.#code)) throw new PyValueError('a number that goes on')
    return { kind: 'constant', value: numberOf(found[0].replaceAll('_', '')) }
  }

  #word(): Token {
    const value = constants.get(this.#take(word)?.[0] ?? '')
    if (value === undefined) throw new PyValueError('no token of a literal')
    return { kind: 'constant', value }
  }

  #sign(ch: string, sign: Token): Token {
    if (ch === '*' && this.#code[this.#at + 1] === '*') throw new PyValueError('a power')
    this.#depth += '[({'.includes(ch) ? 1 : '])}'.includes(ch) ? -1 : 0
    this.#at++
    return sign
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#code)
    if (found !== null) this.#at += found[0].length
    return found
  }
}

function numberOf(digits: string): PyValue {
  if (/^0[xob]/i.test(digits)) return BigInt(digits.toLowerCase())
  if (/[.e]/i.test(digits)) return new PyFloat(Number(digits))
  if (/^0+$/.test(digits)) return 0n
  if (digits.length > MAX_DIGITS || digits.startsWith('0')) throw new PyValueError('no int')
  return BigInt(digits)
}

/** An unknown escape stays as it is; `\N{…}` is not read. */
function meant(all: string, octal?: string, two?: string, four?: string, eight?: string, other?: string): string {
  if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8))
  const hex = two ?? four ?? eight
  if (hex !== undefined && Number.parseInt(hex, 16) <= 0x10ffff) return String.fromCodePoint(Number.parseInt(hex, 16))
  if (other === undefined || 'xuUN'.includes(other)) throw new PyValueError('no such escape')
  return escaped[other] ?? all
}
