/**
 * Encodes lists of numbers as columns of bytes, and decodes them. Typed data keeps its bytes. JSON numbers use the smallest
 * lossless encoding: integers as int32, float32 values as float32, numbers with few decimals as int32 divided by a power of
 * ten, all others as float64.
 */

import {
  type Base64Array,
  type Dtype,
  getOrDecodeBytes,
  isFiniteNumberList,
  isNumberList,
  looksLikeBase64Array,
  type NumberList,
  type TypedNumbers,
  viewAsNumbers,
} from './typed-arrays.ts'

/** `typed/…`: sent as typed data. `decimal/K`: int32, to be divided by 10^K. */
export type ColumnEncoding = Dtype | `decimal/${number}` | `typed/${Dtype}`

export interface Column {
  encoding: ColumnEncoding
  bytes: Uint8Array
}

/** Null in a decimal column. Float columns use NaN, which JSON does not have. */
const INT32_NULL = -(2 ** 31)
const DECIMAL_SCALES = [4, 6, 8, 2]
/** JSON has all digits of smaller integers. */
const EXACT_INTEGER_LIMIT = 2 ** 53

/** With `asFloat`, integers are encoded as floats too, so that typed responses have a float dtype. */
export function encodeColumn(values: NumberList | Base64Array, asFloat = false): Column {
  if (!isNumberList(values)) return { encoding: `typed/${values.dtype}`, bytes: getOrDecodeBytes(values) }
  const column =
    (asFloat ? undefined : encodeInt32(values)) ??
    encodeFloats('float32', new Float32Array(values.length), values) ??
    encodeDecimals(values) ??
    encodeFloats('float64', new Float64Array(values.length), values)
  if (!column) throw new TypeError('a number that is no float64') // cannot happen
  return column
}

/** Whether a value can be a column: a list of numbers or typed data. */
export function isColumnEncodable(value: unknown): value is NumberList | Base64Array {
  return looksLikeBase64Array(value) || isFiniteNumberList(value)
}

function encodeInt32(values: NumberList): Column | undefined {
  const ints = new Int32Array(values.length)
  for (let k = 0; k < values.length; k++) {
    const x = values[k]
    if (typeof x !== 'number' || (x | 0) !== x) return undefined
    ints[k] = x
  }
  return { encoding: 'int32', bytes: new Uint8Array(ints.buffer) }
}

function encodeFloats(
  form: 'float32' | 'float64',
  floats: Float32Array | Float64Array,
  values: NumberList,
): Column | undefined {
  for (let k = 0; k < values.length; k++) {
    const x = values[k] ?? Number.NaN
    floats[k] = x
    if (floats[k] !== x && !Number.isNaN(x)) return undefined
  }
  return { encoding: form, bytes: new Uint8Array(floats.buffer, 0, floats.byteLength) }
}

/** Lossless: a quotient of two exact numbers is rounded once, just as parsing a decimal is, so both give the same double. */
function encodeDecimals(values: NumberList): Column | undefined {
  const ints = new Int32Array(values.length)
  for (const scale of DECIMAL_SCALES) {
    const power = 10 ** scale
    let k = 0
    for (; k < values.length; k++) {
      const x = values[k] ?? Number.NaN
      const isNull = Number.isNaN(x)
      const int = isNull ? INT32_NULL : Math.round(x * power)
      if (!isNull && (int <= INT32_NULL || int >= 2 ** 31 || int / power !== x)) break
      ints[k] = int
    }
    if (k === values.length) return { encoding: `decimal/${scale}`, bytes: new Uint8Array(ints.buffer) }
  }
  return undefined
}

/** Formats a column as JSON numbers; non-finite values become null. */
export function formatColumnAsNumbers({ encoding: form, bytes }: Column): string {
  const scale = parseDecimalScale(form)
  if (scale === undefined) return formatNumbers(toNumberArray(viewAsNumbers(parseDtype(form), bytes)))
  const list: (number | null)[] = toNumberArray(viewAsNumbers('int32', bytes))
  const power = 10 ** scale
  for (let k = 0; k < list.length; k++) list[k] = list[k] === INT32_NULL ? null : (list[k] ?? 0) / power
  return JSON.stringify(list)
}

/**
 * Uses an exponent from 2^53 on: JSON.stringify writes 2^60 as 1152921504606847000. A parser of doubles reads that as 2^60, but
 * one with large integers, such as Python's, reads another number.
 */
function formatNumbers(values: number[]): string {
  if (!values.some((x) => Math.abs(x) >= EXACT_INTEGER_LIMIT)) return JSON.stringify(values)
  return `[${values.map(formatNumber).join()}]`
}

function formatNumber(x: number): string {
  if (!Number.isFinite(x)) return 'null'
  return Math.abs(x) < EXACT_INTEGER_LIMIT ? String(x) : x.toExponential()
}

/** A loop, because Array.from uses an iterator, which takes five times as long. */
function toNumberArray(values: TypedNumbers): number[] {
  const list = Array<number>(values.length)
  for (let k = 0; k < values.length; k++) list[k] = values[k] ?? 0
  return list
}

/** Formats a column as typed data; null becomes NaN. */
export function formatColumnAsTyped({ encoding: form, bytes }: Column): string {
  const scale = parseDecimalScale(form)
  const dtype = scale === undefined ? parseDtype(form) : 'float64'
  const values = scale === undefined ? bytes : viewBytes(decodeDecimals(bytes, scale))
  return `{"dtype":"${dtype}","data":"${Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('base64')}"}`
}

function decodeDecimals(bytes: Uint8Array, scale: number): Float64Array {
  const ints = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
  return Float64Array.from(ints, (x) => (x === INT32_NULL ? Number.NaN : x / 10 ** scale))
}

function viewBytes({ buffer, byteOffset, byteLength }: TypedNumbers): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function parseDecimalScale(form: ColumnEncoding): number | undefined {
  return form.startsWith('decimal/') ? Number(form.slice('decimal/'.length)) : undefined
}

function parseDtype(form: ColumnEncoding): Dtype {
  return form.slice(form.indexOf('/') + 1) as Dtype // not a decimal encoding, so the rest is a dtype
}
