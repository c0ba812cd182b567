/** Reads a Python literal as `read_literal` in `src/engine/host/reading.py` does: data, small sums and products, no names. */
import { type Token, tokens } from './literal-tokens.ts'
import { PyValueError } from './numbers.ts'
import { length } from './text.ts'
import { PyDict, PyFloat, PySet, PyTuple, PyTypeError, type PyValue } from './values.ts'

const wide = /[\ud800-\udfff]/

const MAX_LEAVES = 10_000
/** Python's frames end a chain of signs or terms at about this many. */
const MAX_DEPTH = 900

/**
 * Throws PyValueError, PyTypeError or another Error where `read_literal` raises, and for bytes, complex numbers, `...`,
 * `\N{…}` and differences of sets, which it takes.
 */
export function literal(text: string): PyValue {
  return new Parser(tokens(text)).whole()
}

class Parser {
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0

  constructor(found: readonly Token[]) {
    this.#tokens = found
  }

  whole(): PyValue {
    const value = this.#bare(undefined)
    if (this.#at < this.#tokens.length) throw new PyValueError('more than one value')
    return value
  }

  /** One value, or a tuple without its brackets, up to the sign or the end. */
  #bare(end: string | undefined): PyValue {
    const first = this.#sum()
    if (this.#sign() !== ',') return first
    this.#at++
    return new PyTuple([first, ...this.#items(end)])
  }

  #items(end: string | undefined): PyValue[] {
    const items: PyValue[] = []
    while (this.#sign() !== end || (end === undefined && this.#at < this.#tokens.length)) {
      items.push(this.#sum())
      if (this.#sign() !== ',') break
      this.#at++
    }
    return items
  }

  #sum(): PyValue {
    let value = this.#product()
    for (let terms = 1; ; terms++) {
      const sign = this.#sign()
      if (sign !== '+' && sign !== '-') return value
      if (terms > MAX_DEPTH) throw new PyValueError('too many terms')
      this.#at++
      const right = this.#product()
      checkLeaves(leaves(value) + leaves(right))
      value = sign === '+' ? added(value, right) : subtracted(value, right)
    }
  }

  #product(): PyValue {
    let value = this.#signed()
    while (this.#sign() === '*') {
      this.#at++
      const right = this.#signed()
      checkLeaves(leaves(value) * leaves(right))
      value = multiplied(value, right)
    }
    return value
  }

  #signed(): PyValue {
    let [signs, negative] = [0, false]
    for (let sign = this.#sign(); sign === '+' || sign === '-'; sign = this.#sign()) {
      if (++signs > MAX_DEPTH) throw new PyValueError('too many signs')
      negative = negative !== (sign === '-')
      this.#at++
    }
    const value = this.#atom()
    if (signs === 0) return value
    const number = numberOf(value)
    if (typeof number === 'bigint') return negative ? -number : number
    return new PyFloat(negative ? -number : number)
  }

  #atom(): PyValue {
    const token = this.#tokens[this.#at++]
    if (token?.kind === 'constant') return this.#joined(token.value)
    if (++this.#depth > MAX_DEPTH) throw new PyValueError('nested too deeply')
    const value = this.#bracketed(token?.text)
    this.#depth--
    return value
  }

  /** Texts side by side are one. */
  #joined(first: PyValue): PyValue {
    if (typeof first !== 'string') return first
    const parts = [first]
    for (let next = this.#tokens[this.#at]; next?.kind === 'constant'; next = this.#tokens[++this.#at]) {
      if (typeof next.value !== 'string') throw new PyValueError('two values side by side')
      parts.push(next.value)
    }
    return parts.join('')
  }

  #bracketed(open: string | undefined): PyValue {
    if (open === '[') return this.#closed(']', this.#items(']'))
    if (open === '(') return this.#closed(')', this.#sign() === ')' ? new PyTuple([]) : this.#bare(')'))
    if (open !== '{') throw new PyValueError('no value')
    if (this.#sign() === '}') return this.#closed('}', new PyDict())
    const first = this.#sum()
    return this.#closed('}', this.#sign() === ':' ? this.#dict(first) : this.#set(first))
  }

  #set(first: PyValue): PySet {
    if (this.#sign() !== ',') return new PySet([first])
    this.#at++
    return new PySet([first, ...this.#items('}')])
  }

  #dict(first: PyValue): PyDict {
    const dict = new PyDict()
    for (let key = first; ; key = this.#sum()) {
      if (this.#sign() !== ':') throw new PyValueError('a key without a value')
      this.#at++
      dict.set(key, this.#sum())
      if (this.#sign() !== ',') return dict
      this.#at++
      if (this.#sign() === '}') return dict
    }
  }

  #closed<T extends PyValue>(bracket: string, value: T): T {
    if (this.#sign() !== bracket) throw new PyValueError('a bracket left open')
    this.#at++
    return value
  }

  #sign(): string | undefined {
    const token = this.#tokens[this.#at]
    return token?.kind === 'sign' ? token.text : undefined
  }
}

function checkLeaves(count: number): void {
  if (!(count <= MAX_LEAVES)) throw new PyValueError('too big')
}

function leaves(value: PyValue): number {
  if (typeof value === 'string') return Math.max(1, wide.test(value) ? length(value) : value.length)
  if (Array.isArray(value)) return 1 + total(value)
  if (value instanceof PyTuple) return 1 + total(value.items)
  if (value instanceof PySet) return 1 + total(value.values())
  if (value instanceof PyDict) return 1 + total(value.keys())
  return Math.max(1, Math.abs(Number(numberOf(value))))
}

function total(items: readonly PyValue[]): number {
  return items.reduce((sum: number, item) => sum + leaves(item), 0)
}

function added(a: PyValue, b: PyValue): PyValue {
  if (typeof a === 'string' && typeof b === 'string') return a + b
  if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b]
  if (a instanceof PyTuple && b instanceof PyTuple) return new PyTuple([...a.items, ...b.items])
  const [x, y] = [numberOf(a), numberOf(b)]
  return typeof x === 'bigint' && typeof y === 'bigint' ? x + y : new PyFloat(Number(x) + Number(y))
}

function subtracted(a: PyValue, b: PyValue): PyValue {
  const [x, y] = [numberOf(a), numberOf(b)]
  return typeof x === 'bigint' && typeof y === 'bigint' ? x - y : new PyFloat(Number(x) - Number(y))
}

function multiplied(a: PyValue, b: PyValue): PyValue {
  if (isSequence(a)) return repeated(a, timesOf(b))
  if (isSequence(b)) return repeated(b, timesOf(a))
  const [x, y] = [numberOf(a), numberOf(b)]
  return typeof x === 'bigint' && typeof y === 'bigint' ? x * y : new PyFloat(Number(x) * Number(y))
}

function isSequence(value: PyValue): value is string | PyValue[] | PyTuple {
  return typeof value === 'string' || Array.isArray(value) || value instanceof PyTuple
}

/** As each leaf counts for at least one, there are few times. */
function repeated(value: string | PyValue[] | PyTuple, times: number): PyValue {
  if (typeof value === 'string') return value === '' ? '' : value.repeat(times)
  if (Array.isArray(value)) return value.length === 0 ? [] : Array.from({ length: times }, () => value).flat()
  return new PyTuple(value.items.length === 0 ? [] : Array.from({ length: times }, () => value.items).flat())
}

function timesOf(value: PyValue): number {
  const times = numberOf(value)
  if (typeof times !== 'bigint') throw new PyTypeError('no whole number of times')
  return times < 0n ? 0 : Number(times)
}

function numberOf(value: PyValue): bigint | number {
  if (typeof value === 'bigint') return value
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (value instanceof PyFloat) return value.value
  throw new PyTypeError('no number')
}
