/** Python's values as TypeScript holds them: what JSON or a literal can mean, compared, ordered and written as Python does. */
import { floatRepr, MAX_DIGITS, PyError, PyValueError } from './numbers.ts'
import { codePoints, NEWER_THAN_UNICODE_14 } from './text.ts'

/** A list is an array, an int a bigint. */
export type PyValue = null | boolean | bigint | PyFloat | string | PyValue[] | PyTuple | PyDict | PySet

/** Where Python raises TypeError. */
export class PyTypeError extends PyError {}

/** Where Python raises RecursionError. */
export class PyRecursionError extends PyError {}

/** Where Python raises KeyError or IndexError. */
export class PyLookupError extends PyError {}

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

/** Throws PyTypeError for what Python does not order; sets, which it orders in part, are among it. */
function isLess(a: PyValue, b: PyValue): boolean {
  const [x, y] = [toNumeric(a), toNumeric(b)]
  if (x !== undefined && y !== undefined) return x < y
  if (typeof a === 'string' && typeof b === 'string') return isTextLess(a, b)
  const alike = (Array.isArray(a) && Array.isArray(b)) || (a instanceof PyTuple && b instanceof PyTuple)
  if (!alike) throw new PyTypeError('no order')
  return isSequenceLess(iterate(a), iterate(b))
}

/** A new list, by `key`; equal items keep their order. */
export function sortByKey<T>(items: readonly T[], key: (item: T) => PyValue): T[] {
  const keyed = items.map((item) => ({ item, key: key(item) }))
  keyed.sort((a, b) => (isLess(a.key, b.key) ? -1 : isLess(b.key, a.key) ? 1 : 0))
  return keyed.map(({ item }) => item)
}

function isSequenceLess(a: readonly PyValue[], b: readonly PyValue[]): boolean {
  for (const [i, item] of a.entries()) {
    const other = b[i]
    if (other === undefined) return false
    if (item !== other && !equals(item, other)) return isLess(item, other)
  }
  return a.length < b.length
}

/** By code points, where JavaScript would go by UTF-16 units. */
function isTextLess(a: string, b: string): boolean {
  const end = Math.min(a.length, b.length)
  let i = 0
  while (i < end && a.charCodeAt(i) === b.charCodeAt(i)) i++
  return i < end ? getCodeUnitRank(a.charCodeAt(i)) < getCodeUnitRank(b.charCodeAt(i)) : a.length < b.length
}

/** Surrogates stand for what lies above all other units. */
function getCodeUnitRank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}

const LINEAR_PROBES = 9
const MAX_ITEMS = 50_000
/** An integer's hash is its remainder by this. */
const HASH_MODULUS = 2n ** 61n - 1n

/**
 * A set's items, given in order of insertion, in the order in which CPython 3.11 lists them: that of its hash table. Undefined for any but integers below 2^61 - 1: texts hash by a seed.
 */
export function getSetOrder<Item>(items: Item[]): (Item | bigint | boolean)[] | undefined {
  const integers = items.filter((item) => isSmallInteger(item))
  if (items.length > MAX_ITEMS || integers.length < items.length) return items.length < 2 ? items : undefined
  let table: (bigint | boolean | undefined)[] = Array(8).fill(undefined)
  let used = 0
  for (const item of integers) {
    insertItem(table, item)
    used++
    if (used * 5 >= (table.length - 1) * 3) table = growTable(table, used * 4)
  }
  return table.filter((item) => item !== undefined)
}

function growTable(table: readonly (bigint | boolean | undefined)[], least: number): (bigint | boolean | undefined)[] {
  let size = 8
  while (size <= least) size *= 2
  const larger: (bigint | boolean | undefined)[] = Array(size).fill(undefined)
  for (const item of table) if (item !== undefined) insertItem(larger, item)
  return larger
}

/** A run of ten slots, then a jump by more of the hash's bits: `set_add_entry` of Objects/setobject.c. */
function insertItem(table: (bigint | boolean | undefined)[], item: bigint | boolean): void {
  const mask = table.length - 1
  let perturb = BigInt.asUintN(64, hashInteger(item))
  let start = Number(perturb & BigInt(mask))
  for (;;) {
    const last = start + LINEAR_PROBES <= mask ? start + LINEAR_PROBES : start
    for (let i = start; i <= last; i++) {
      if (table[i] === undefined) {
        table[i] = item
        return
      }
    }
    perturb >>= 5n
    start = Number((BigInt(start) * 5n + 1n + perturb) & BigInt(mask))
  }
}

function hashInteger(item: bigint | boolean): bigint {
  const value = BigInt(item)
  return value === -1n ? -2n : value
}

function isSmallInteger(item: unknown): item is bigint | boolean {
  return typeof item === 'boolean' || (typeof item === 'bigint' && item < HASH_MODULUS && item > -HASH_MODULUS)
}
