/** Python's `json.loads`: NaN and Infinity are floats, of repeated keys the last counts, integers have no bound but 4,300 digits. */
import { MAX_DIGITS, PyValueError } from './numbers.ts'
import { PyDict, PyFloat, PyRecursionError, type PyValue, str } from './values.ts'

/** Where Python raises JSONDecodeError, which is a ValueError. */
export class JsonDecodeError extends PyValueError {}

/** As deep as Python 3.11 goes from within a scorer: its limit is 1,000 frames in all. */
export const MAX_JSON_DEPTH = 991

const NAN = new PyFloat(Number.NaN)
const PLAIN_TEXT_PATTERN = /[^"\\\u0000-\u001f]*/y
const NUMBER_PATTERN = /(-?(?:0|[1-9]\d*))(\.\d+)?([eE][-+]?\d+)?/y
const HEX4_PATTERN = /[0-9a-fA-F]{4}/y
const SHORT_ESCAPE_PATTERN = /["\\\n\r\t\f\b]/g
const LONG_ESCAPE_PATTERN = /[^ -~\n\r\t\f\b]/g
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '	',
}
const KEYWORDS: Readonly<Record<string, readonly [string, PyValue]>> = {
  n: ['null', null],
  t: ['true', true],
  f: ['false', false],
  N: ['NaN', NAN],
  I: ['Infinity', new PyFloat(Infinity)],
  '-': ['-Infinity', new PyFloat(-Infinity)],
}

/** Throws JsonDecodeError, PyValueError (too many digits) or PyRecursionError (too deep). */
export function loads(text: string): PyValue {
  return new JsonParser(text).parseDocument()
}

/** The length of Python's `json.dumps` of what `loads` gives: in ASCII, with a space after each comma and colon. */
export function dumpsLength(value: PyValue): number {
  if (typeof value === 'string')
    return 2 + value.length + count(value, SHORT_ESCAPE_PATTERN) + 5 * count(value, LONG_ESCAPE_PATTERN)
  if (Array.isArray(value))
    return value.reduce<number>((sum, item) => sum + dumpsLength(item), 2 * Math.max(1, value.length))
  if (value instanceof PyDict)
    return value
      .entries()
      .reduce((sum, [key, item]) => sum + dumpsLength(key) + dumpsLength(item) + 2, 2 * Math.max(1, value.size))
  if (value instanceof PyFloat && !Number.isFinite(value.value)) return String(value.value).length // Infinity, not inf
  return str(value).length // that of None, True and False is that of null, true and false
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

class JsonParser {
  readonly #text: string
  #position = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  parseDocument(): PyValue {
    this.#skipWhitespace()
    const value = this.#parseValue()
    this.#skipWhitespace()
    if (this.#position < this.#text.length) throw this.#error('extra data')
    return value
  }

  #parseValue(): PyValue {
    const first = this.#text[this.#position] ?? ''
    if (first === '"') return this.#parseString()
    if (first === '{') return this.#parseNested(() => this.#parseObject())
    if (first === '[') return this.#parseNested(() => this.#parseArray())
    const word = KEYWORDS[first]
    return word !== undefined && this.#skip(word[0]) ? word[1] : this.#parseNumber()
  }

  #parseNested<T>(read: () => T): T {
    this.#position++
    if (++this.#depth > MAX_JSON_DEPTH) throw new PyRecursionError('nested too deeply')
    const value = read()
    this.#depth--
    return value
  }

  #parseObject(): PyDict {
    const dict = new PyDict()
    this.#skipWhitespace()
    if (this.#skip('}')) return dict
    for (;;) {
      if (this.#text[this.#position] !== '"') throw this.#error('no key')
      const key = this.#parseString()
      this.#skipWhitespace()
      if (!this.#skip(':')) throw this.#error('no colon')
      this.#skipWhitespace()
      dict.set(key, this.#parseValue())
      if (this.#skipSeparator('}')) return dict
    }
  }

  #parseArray(): PyValue[] {
    const items: PyValue[] = []
    this.#skipWhitespace()
    if (this.#skip(']')) return items
    for (;;) {
      items.push(this.#parseValue())
      if (this.#skipSeparator(']')) return items
    }
  }

  /** Past the closing bracket, or past the comma before one more. */
  #skipSeparator(bracket: string): boolean {
    this.#skipWhitespace()
    if (this.#skip(bracket)) return true
    if (!this.#skip(',')) throw this.#error('no comma')
    this.#skipWhitespace()
    return false
  }

  #parseString(): string {
    this.#position++
    const parts: string[] = []
    for (;;) {
      parts.push(this.#take(PLAIN_TEXT_PATTERN))
      if (this.#skip('"')) return parts.join('')
      if (!this.#skip('\\')) throw this.#error('a string without end')
      parts.push(this.#parseEscape())
    }
  }

  #parseEscape(): string {
    const ch = this.#text[this.#position++] ?? ''
    if (ch !== 'u') {
      const meant = ESCAPES[ch]
      if (meant === undefined) throw this.#error('no such escape')
      return meant
    }
    const code = this.#take(HEX4_PATTERN)
    if (code === '') throw this.#error('four digits wanted')
    return String.fromCharCode(Number.parseInt(code, 16))
  }

  #parseNumber(): PyValue {
    NUMBER_PATTERN.lastIndex = this.#position
    const [all, whole = '', fraction, exponent] = NUMBER_PATTERN.exec(this.#text) ?? []
    if (all === undefined) throw this.#error('no value')
    this.#position += all.length
    if (fraction !== undefined || exponent !== undefined) return new PyFloat(Number(all))
    if (whole.length - (whole.startsWith('-') ? 1 : 0) > MAX_DIGITS) throw new PyValueError('too many digits')
    return BigInt(whole)
  }

  #skipWhitespace(): void {
    while (isWhitespace(this.#text.charCodeAt(this.#position))) this.#position++
  }

  #skip(word: string): boolean {
    const found = this.#text.startsWith(word, this.#position)
    if (found) this.#position += word.length
    return found
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#position
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#position += found.length
    return found
  }

  #error(why: string): JsonDecodeError {
    return new JsonDecodeError(`${why} at ${this.#position}`)
  }
}

function isWhitespace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09
}
