/** Reads a Python literal as `parse_literal` in `src/engine/python/safe_eval.py` does: data, small sums and products, no names. */
import { SAFE_EVAL_LIMITS } from '../safe-eval-limits.ts'
import { type LiteralToken, tokenizeLiteral } from './literal-tokens.ts'
import { PyValueError } from './numbers.ts'
import { codePointLength } from './text.ts'
import { PyDict, PyFloat, PySet, PyTuple, PyTypeError, type PyValue } from './values.ts'

const SURROGATE_PATTERN = /[\ud800-\udfff]/

/** Python's frames end a chain of signs or terms at about this many. */
const MAX_DEPTH = 900

/**
 * Throws PyValueError, PyTypeError or another Error where `parse_literal` raises, and for bytes, complex numbers, `...`,
 * `\N{…}` and differences of sets, which it takes.
 */
export function parseLiteral(text: string): PyValue {
  return new LiteralParser(tokenizeLiteral(text)).parse()
}

class LiteralParser {
  readonly #tokens: readonly LiteralToken[]
  #position = 0
  #depth = 0

  constructor(found: readonly LiteralToken[]) {
    this.#tokens = found
  }

  parse(): PyValue {
    const value = this.#parseTupleOrValue(undefined)
    if (this.#position < this.#tokens.length) throw new PyValueError('more than one value')
    return value
  }

  /** One value, or a tuple without its brackets, up to the sign or the end. */
  #parseTupleOrValue(end: string | undefined): PyValue {
    const first = this.#parseSum()
    if (this.#peekSign() !== ',') return first
    this.#position++
    return new PyTuple([first, ...this.#parseItems(end)])
  }

  #parseItems(end: string | undefined): PyValue[] {
    const items: PyValue[] = []
    while (this.#peekSign() !== end || (end === undefined && this.#position < this.#tokens.length)) {
      items.push(this.#parseSum())
      if (this.#peekSign() !== ',') break
      this.#position++
    }
    return items
  }

  #parseSum(): PyValue {
    let value = this.#parseProduct()
    for (let terms = 1; ; terms++) {
      const sign = this.#peekSign()
      if (sign !== '+' && sign !== '-') return value
      if (terms > MAX_DEPTH) throw new PyValueError('too many terms')
      this.#position++
      const right = this.#parseProduct()
      checkLeaves(countLeaves(value) + countLeaves(right))
      value = sign === '+' ? addValues(value, right) : subtractValues(value, right)
    }
  }

  #parseProduct(): PyValue {
    let value = this.#parseSigned()
    while (this.#peekSign() === '*') {
      this.#position++
      const right = this.#parseSigned()
      checkLeaves(countLeaves(value) * countLeaves(right))
      value = multiplyValues(value, right)
    }
    return value
  }

  #parseSigned(): PyValue {
    let [signs, negative] = [0, false]
    for (let sign = this.#peekSign(); sign === '+' || sign === '-'; sign = this.#peekSign()) {
      if (++signs > MAX_DEPTH) throw new PyValueError('too many signs')
      negative = negative !== (sign === '-')
      this.#position++
    }
    const value = this.#parseAtom()
    if (signs === 0) return value
    const number = toNumeric(value)
    if (typeof number === 'bigint') return negative ? -number : number
    return new PyFloat(negative ? -number : number)
  }

  #parseAtom(): PyValue {
    const token = this.#tokens[this.#position++]
    if (token?.kind === 'constant') return this.#joinAdjacentTexts(token.value)
    if (++this.#depth > MAX_DEPTH) throw new PyValueError('nested too deeply')
    const value = this.#parseBracketed(token?.text)
    this.#depth--
    return value
  }

  /** Texts side by side are one. */
  #joinAdjacentTexts(first: PyValue): PyValue {
    if (typeof first !== 'string') return first
    const parts = [first]
    for (let next = this.#tokens[this.#position]; next?.kind === 'constant'; next = this.#tokens[++this.#position]) {
      if (typeof next.value !== 'string') throw new PyValueError('two values side by side')
      parts.push(next.value)
    }
    return parts.join('')
  }

  #parseBracketed(open: string | undefined): PyValue {
    if (open === '[') return this.#expectClosing(']', this.#parseItems(']'))
    if (open === '(')
      return this.#expectClosing(')', this.#peekSign() === ')' ? new PyTuple([]) : this.#parseTupleOrValue(')'))
    if (open !== '{') throw new PyValueError('no value')
    if (this.#peekSign() === '}') return this.#expectClosing('}', new PyDict())
    const first = this.#parseSum()
    return this.#expectClosing('}', this.#peekSign() === ':' ? this.#parseDict(first) : this.#parseSet(first))
  }

  #parseSet(first: PyValue): PySet {
    if (this.#peekSign() !== ',') return new PySet([first])
    this.#position++
    return new PySet([first, ...this.#parseItems('}')])
  }

  #parseDict(first: PyValue): PyDict {
    const dict = new PyDict()
    for (let key = first; ; key = this.#parseSum()) {
      if (this.#peekSign() !== ':') throw new PyValueError('a key without a value')
      this.#position++
      dict.set(key, this.#parseSum())
      if (this.#peekSign() !== ',') return dict
      this.#position++
      if (this.#peekSign() === '}') return dict
    }
  }

  #expectClosing<T extends PyValue>(bracket: string, value: T): T {
    if (this.#peekSign() !== bracket) throw new PyValueError('a bracket left open')
    this.#position++
    return value
  }

  #peekSign(): string | undefined {
    const token = this.#tokens[this.#position]
    return token?.kind === 'sign' ? token.text : undefined
  }
}

function checkLeaves(count: number): void {
  if (!(count <= SAFE_EVAL_LIMITS.leaves)) throw new PyValueError('too big')
}

function countLeaves(value: PyValue): number {
  if (typeof value === 'string')
    return Math.max(1, SURROGATE_PATTERN.test(value) ? codePointLength(value) : value.length)
  if (Array.isArray(value)) return 1 + countAllLeaves(value)
  if (value instanceof PyTuple) return 1 + countAllLeaves(value.items)
  if (value instanceof PySet) return 1 + countAllLeaves(value.values())
  if (value instanceof PyDict) return 1 + countAllLeaves(value.keys())
  return Math.max(1, Math.abs(Number(toNumeric(value))))
}

function countAllLeaves(items: readonly PyValue[]): number {
  return items.reduce((sum: number, item) => sum + countLeaves(item), 0)
}

function addValues(a: PyValue, b: PyValue): PyValue {
  if (typeof a === 'string' && typeof b === 'string') return a + b
  if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b]
  if (a instanceof PyTuple && b instanceof PyTuple) return new PyTuple([...a.items, ...b.items])
  const [x, y] = [toNumeric(a), toNumeric(b)]
  return typeof x === 'bigint' && typeof y === 'bigint' ? x + y : new PyFloat(Number(x) + Number(y))
}

function subtractValues(a: PyValue, b: PyValue): PyValue {
  const [x, y] = [toNumeric(a), toNumeric(b)]
  return typeof x === 'bigint' && typeof y === 'bigint' ? x - y : new PyFloat(Number(x) - Number(y))
}

function multiplyValues(a: PyValue, b: PyValue): PyValue {
  if (isSequence(a)) return repeatSequence(a, toRepeatCount(b))
  if (isSequence(b)) return repeatSequence(b, toRepeatCount(a))
  const [x, y] = [toNumeric(a), toNumeric(b)]
  return typeof x === 'bigint' && typeof y === 'bigint' ? x * y : new PyFloat(Number(x) * Number(y))
}

function isSequence(value: PyValue): value is string | PyValue[] | PyTuple {
  return typeof value === 'string' || Array.isArray(value) || value instanceof PyTuple
}

/** As each leaf counts for at least one, there are few times. */
function repeatSequence(value: string | PyValue[] | PyTuple, times: number): PyValue {
  if (typeof value === 'string') return value === '' ? '' : value.repeat(times)
  if (Array.isArray(value)) return value.length === 0 ? [] : Array.from({ length: times }, () => value).flat()
  return new PyTuple(value.items.length === 0 ? [] : Array.from({ length: times }, () => value.items).flat())
}

function toRepeatCount(value: PyValue): number {
  const times = toNumeric(value)
  if (typeof times !== 'bigint') throw new PyTypeError('no whole number of times')
  return times < 0n ? 0 : Number(times)
}

function toNumeric(value: PyValue): bigint | number {
  if (typeof value === 'bigint') return value
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (value instanceof PyFloat) return value.value
  throw new PyTypeError('no number')
}
