/** Python's `json.loads`: NaN and Infinity are floats, of repeated keys the last counts, integers have no bound but 4,300 digits. */
import { MAX_DIGITS, PyValueError } from './numbers.ts'
import { PyDict, PyFloat, PyRecursionError, type PyValue } from './values.ts'

/** Where Python raises JSONDecodeError, which is a ValueError. */
class JsonDecodeError extends PyValueError {}

/** As deep as Python 3.11 goes from within a scorer: its limit is 1,000 frames in all. */
export const MAX_DEPTH = 991

const NAN = new PyFloat(Number.NaN)
const plain = /[^"\\\u0000-\u001f]*/y
const number = /(-?(?:0|[1-9]\d*))(\.\d+)?([eE][-+]?\d+)?/y
const hex4 = /[0-9a-fA-F]{4}/y
const escapes: Readonly<Record<string, string>> = {
  ...{ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' },
}
const words: Readonly<Record<string, readonly [string, PyValue]>> = {
  n: ['null', null],
  t: ['true', true],
  f: ['false', false],
  N: ['NaN', NAN],
  I: ['Infinity', new PyFloat(Infinity)],
  '-': ['-Infinity', new PyFloat(-Infinity)],
}

/** Throws JsonDecodeError, PyValueError (too many digits) or PyRecursionError (too deep). */
export function loads(text: string): PyValue {
  return new Reading(text).document()
}

class Reading {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): PyValue {
    this.#blanks()
    const value = this.#value()
    this.#blanks()
    if (this.#at < this.#text.length) throw this.#error('extra data')
    return value
  }

  #value(): PyValue {
    const first = this.#text[this.#at] ?? ''
    if (first === '"') return this.#string()
    if (first === '{') return this.#inside(() => this.#object())
    if (first === '[') return this.#inside(() => this.#array())
    const word = words[first]
    return word !== undefined && this.#skip(word[0]) ? word[1] : this.#number()
  }

  #inside<T>(read: () => T): T {
    this.#at++
    if (++this.#depth > MAX_DEPTH) throw new PyRecursionError('nested too deeply')
    const value = read()
    this.#depth--
    return value
  }

  #object(): PyDict {
    const dict = new PyDict()
    this.#blanks()
    if (this.#skip('}')) return dict
    for (;;) {
      if (this.#text[this.#at] !== '"') throw this.#error('no key')
      const key = this.#string()
      this.#blanks()
      if (!this.#skip(':')) throw this.#error('no colon')
      this.#blanks()
      dict.set(key, this.#value())
      if (this.#ends('}')) return dict
    }
  }

  #array(): PyValue[] {
    const items: PyValue[] = []
    this.#blanks()
    if (this.#skip(']')) return items
    for (;;) {
      items.push(this.#value())
      if (this.#ends(']')) return items
    }
  }

  /** Past the closing bracket, or past the comma before one more. */
  #ends(bracket: string): boolean {
    this.#blanks()
    if (this.#skip(bracket)) return true
    if (!this.#skip(',')) throw this.#error('no comma')
    this.#blanks()
    return false
  }

  #string(): string {
    this.#at++
    const parts: string[] = []
    for (;;) {
      parts.push(this.#take(plain))
      if (this.#skip('"')) return parts.join('')
      if (!this.#skip('\\')) throw this.#error('a string without end')
      parts.push(this.#escape())
    }
  }

  #escape(): string {
    const ch = this.#text[this.#at++] ?? ''
    if (ch !== 'u') {
      const meant = escapes[ch]
      if (meant === undefined) throw this.#error('no such escape')
      return meant
    }
    const code = this.#take(hex4)
    if (code === '') throw this.#error('four digits wanted')
    return String.fromCharCode(Number.parseInt(code, 16))
  }

  #number(): PyValue {
    number.lastIndex = this.#at
    const [all, whole = '', fraction, exponent] = number.exec(this.#text) ?? []
    if (all === undefined) throw this.#error('no value')
    this.#at += all.length
    if (fraction !== undefined || exponent !== undefined) return new PyFloat(Number(all))
    if (whole.length - (whole.startsWith('-') ? 1 : 0) > MAX_DIGITS) throw new PyValueError('too many digits')
    return BigInt(whole)
  }

  #blanks(): void {
    while (isBlank(this.#text.charCodeAt(this.#at))) this.#at++
  }

  #skip(word: string): boolean {
    const found = this.#text.startsWith(word, this.#at)
    if (found) this.#at += word.length
    return found
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += found.length
    return found
  }

  #error(why: string): JsonDecodeError {
    return new JsonDecodeError(`${why} at ${this.#at}`)
  }
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09
}
