/** Python's values as TypeScript holds them: what JSON or a literal can mean, compared and written as Python does. */
import { floatRepr, MAX_DIGITS, PyValueError } from './numbers.ts'
import { getSetOrder } from './set-order.ts'
import { codePoints } from './text.ts'
import { NEWER_THAN_UNICODE_14 } from './unicode.ts'

/** A list is an array, an int a bigint. */
export type PyValue = null | boolean | bigint | PyFloat | string | PyValue[] | PyTuple | PyDict | PySet

/** Where Python raises TypeError. */
export class PyTypeError extends Error {}

/** Where Python raises RecursionError. */
export class PyRecursionError extends Error {}

export class PyFloat {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

export class PyTuple {
  readonly items: readonly PyValue[]
  constructor(items: readonly PyValue[]) {
    this.items = items
  }
}

/** Keeps its keys in order of insertion; an equal key replaces the value alone. Unhashable keys throw PyTypeError. */
export class PyDict {
  readonly #entries = new Map<string, [key: PyValue, value: PyValue]>()

  get size(): number {
    return this.#entries.size
  }

  has(key: PyValue): boolean {
    return this.#entries.has(hashKey(key))
  }

  get(key: PyValue): PyValue | undefined {
    return this.#entries.get(hashKey(key))?.[1]
  }

  set(key: PyValue, value: PyValue): void {
    const id = hashKey(key)
    this.#entries.set(id, [this.#entries.get(id)?.[0] ?? key, value])
  }

  keys(): PyValue[] {
    return this.entries().map(([key]) => key)
  }

  entries(): [key: PyValue, value: PyValue][] {
    return [...this.#entries.values()]
  }
}

/** Lists small integers in the order of CPython's table, all else in that of insertion. */
export class PySet {
  readonly #items = new Map<string, PyValue>()

  constructor(items: readonly PyValue[] = []) {
    for (const item of items) this.add(item)
  }

  get size(): number {
    return this.#items.size
  }

  has(item: PyValue): boolean {
    return this.#items.has(hashKey(item))
  }

  add(item: PyValue): void {
    const id = hashKey(item)
    if (!this.#items.has(id)) this.#items.set(id, item)
  }

  values(): PyValue[] {
    return this.ordered() ?? [...this.#items.values()]
  }

  /** As Python would list it; undefined where that hangs on the process. */
  ordered(): PyValue[] | undefined {
    return getSetOrder([...this.#items.values()])
  }
}

/** Python's `==`. A float that is no number equals nothing, but a container that holds the same object equals itself. */
export function equals(a: PyValue, b: PyValue): boolean {
  const [x, y] = [toNumeric(a), toNumeric(b)]
  if (x !== undefined || y !== undefined) return x !== undefined && y !== undefined && areNumbersEqual(x, y)
  if (Array.isArray(a)) return Array.isArray(b) && areItemsEqual(a, b)
  if (a instanceof PyTuple) return b instanceof PyTuple && areItemsEqual(a.items, b.items)
  if (a instanceof PySet) return b instanceof PySet && a.size === b.size && a.values().every((item) => b.has(item))
  if (!(a instanceof PyDict)) return a === b
  return (
    b instanceof PyDict && a.size === b.size && a.entries().every(([key, value]) => isSameOrEqual(value, b.get(key)))
  )
}

/** A string that is equal for equal values; throws PyTypeError for what Python cannot hash. */
export function hashKey(value: PyValue): string {
  const number = toNumeric(value)
  if (number !== undefined) return `n${toWholeNumber(number) ?? number}`
  if (typeof value === 'string') return `s${value}`
  if (value === null) return '-'
  if (!(value instanceof PyTuple)) throw new PyTypeError('unhashable')
  return `t${value.items.map((item) => lengthPrefixed(hashKey(item))).join('')}`
}

/** What `for … in value` runs over; throws PyTypeError where Python does, and for a set of texts, whose order is random. */
export function iterate(value: PyValue): readonly PyValue[] {
  if (Array.isArray(value)) return value
  if (typeof value === 'string') return codePoints(value)
  if (value instanceof PyTuple) return value.items
  if (value instanceof PyDict) return value.keys()
  const listed = value instanceof PySet ? value.ordered() : undefined
  if (listed === undefined) throw new PyTypeError('not iterable, or in no order that is known')
  return listed
}

/** Python's `str()`; throws PyValueError for an int of more than 4,300 digits. */
export function str(value: PyValue): string {
  return typeof value === 'string' ? value : repr(value)
}

/** Python's `repr()`. */
export function repr(value: PyValue): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'bigint') return intRepr(value)
  if (typeof value === 'string') return quoteText(value)
  if (value instanceof PyFloat) return floatRepr(value.value)
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`
  if (value instanceof PyTuple) return `(${value.items.map(repr).join(', ')}${value.items.length === 1 ? ',' : ''})`
  if (value instanceof PySet) return value.size === 0 ? 'set()' : `{${value.values().map(repr).join(', ')}}`
  return `{${value
    .entries()
    .map(([key, item]) => `${repr(key)}: ${repr(item)}`)
    .join(', ')}}`
}

/** A bool, int or float as a number. */
function toNumeric(value: PyValue): bigint | number | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'boolean') return value ? 1n : 0n
  return value instanceof PyFloat ? value.value : undefined
}

function toWholeNumber(x: bigint | number): bigint | undefined {
  if (typeof x === 'bigint') return x
  return Number.isInteger(x) ? BigInt(x) : undefined
}

function areNumbersEqual(x: bigint | number, y: bigint | number): boolean {
  return typeof x === typeof y ? x === y : toWholeNumber(x) !== undefined && toWholeNumber(x) === toWholeNumber(y)
}

function isSameOrEqual(a: PyValue, b: PyValue | undefined): boolean {
  return b !== undefined && (a === b || equals(a, b))
}

function areItemsEqual(a: readonly PyValue[], b: readonly PyValue[]): boolean {
  return a.length === b.length && a.every((item, i) => isSameOrEqual(item, b[i]))
}

function lengthPrefixed(key: string): string {
  return `${key.length}:${key}`
}

/** An int of 4,300 digits has fewer than 3,572 hexadecimal ones; those are cheap to write. */
function intRepr(value: bigint): string {
  const text = value.toString(16).length > 3573 ? '' : String(value)
  if (text === '' || text.length - (value < 0n ? 1 : 0) > MAX_DIGITS) throw new PyValueError('too many digits')
  return text
}

const NEWER_CLASS = NEWER_THAN_UNICODE_14.replaceAll(/[0-9a-f]+/g, '\\u{$&}').replaceAll(' ', '')
const UNPRINTABLE_PATTERN = new RegExp(`[[\\p{C}\\p{Z}${NEWER_CLASS}]--[ ]]|\\\\`, 'gv')
const NAMED_ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function quoteText(s: string): string {
  const body = s.replace(UNPRINTABLE_PATTERN, (ch) => NAMED_ESCAPES[ch] ?? escapeCodePoint(ch.codePointAt(0) ?? 0))
  if (!s.includes("'")) return `'${body}'`
  return s.includes('"') ? `'${body.replaceAll("'", "\\'")}'` : `"${body}"`
}

function escapeCodePoint(code: number): string {
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`
}
