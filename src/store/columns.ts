/**
 * A list of numbers as a column of bytes, and back. What was typed keeps its bytes. JSON numbers go into the smallest
 * form that gives every one of them back: whole ones as int32, those of a float32 as float32, those with few decimals as
 * int32 over a power of ten, all others as float64.
 */
import {
  areFinite,
  bytesOf,
  type Dtype,
  isList,
  looksTyped,
  type NumberList,
  type Typed,
  type TypedValues,
  valuesOf,
} from '../words/typed.ts'
import { integerText } from './integer-text.ts'
import { doubleText, realText } from './real-text.ts'

/** `typed/…`: sent as typed data. `decimal/K`: int32, to be divided by 10^K. */
export type Form = Dtype | `decimal/${number}` | `typed/${Dtype}`

export interface Column {
  form: Form
  bytes: Uint8Array
}

/** In a decimal column: null. In float columns NaN is, which JSON does not have. */
const NULL = -(2 ** 31)
const SCALES = [4, 6, 8, 2]

/** `real` says that the numbers mean reals, so that whole ones come back as floats to those who ask for typed data. */
export function columnOf(values: NumberList | Typed, real = false): Column {
  if (!isList(values)) return { form: `typed/${values.dtype}`, bytes: bytesOf(values) }
  const column =
    asTheyAre(values, real) ??
    (real ? undefined : asInt32(values)) ??
    asFloats('float32', new Float32Array(values.length), values) ??
    asDecimals(values) ??
    asFloats('float64', new Float64Array(values.length), values)
  if (!column) throw new TypeError('a number that is no float64') // there is none
  return column
}

/** Whether a value can be a column: what is neither a list of numbers nor typed data stays JSON. */
export function fitsColumn(value: unknown): value is NumberList | Typed {
  return looksTyped(value) || areFinite(value)
}

function asTheyAre(values: NumberList, real: boolean): Column | undefined {
  if (real && values instanceof Float32Array) return { form: 'float32', bytes: bytesOfValues(values) }
  return !real && values instanceof Int32Array ? { form: 'int32', bytes: bytesOfValues(values) } : undefined
}

function asInt32(values: NumberList): Column | undefined {
  const ints = new Int32Array(values.length)
  for (let k = 0; k < values.length; k++) {
    const x = values[k]
    if (typeof x !== 'number' || (x | 0) !== x) return undefined
    ints[k] = x
  }
  return { form: 'int32', bytes: new Uint8Array(ints.buffer) }
}

function asFloats(
  form: 'float32' | 'float64',
  floats: Float32Array | Float64Array,
  values: NumberList,
): Column | undefined {
  for (let k = 0; k < values.length; k++) {
    const x = values[k] ?? Number.NaN
    floats[k] = x
    if (floats[k] !== x && !Number.isNaN(x)) return undefined
  }
  return { form, bytes: new Uint8Array(floats.buffer, 0, floats.byteLength) }
}

/** A quotient of two exact numbers is rounded once, as the reading of a decimal is: so they are the same double. */
function asDecimals(values: NumberList): Column | undefined {
  const ints = new Int32Array(values.length)
  for (const scale of SCALES) {
    const power = 10 ** scale
    let k = 0
    for (; k < values.length; k++) {
      const x = values[k] ?? Number.NaN
      const isNull = Number.isNaN(x)
      const int = isNull ? NULL : Math.round(x * power)
      if (!isNull && (int <= NULL || int >= 2 ** 31 || int / power !== x)) break
      ints[k] = int
    }
    if (k === values.length) return { form: `decimal/${scale}`, bytes: new Uint8Array(ints.buffer) }
  }
  return undefined
}

/** As JSON numbers; what is not finite in typed data has no number in JSON and becomes null. */
export function numbersOf({ form, bytes }: Column): string {
  const scale = scaleOf(form)
  if (scale === undefined) {
    const values = valuesOf(dtypeOf(form), bytes)
    if (values instanceof Float32Array) return realText(values)
    return values instanceof Float64Array ? doubleText(listOf(values)) : integerText(values)
  }
  const list: (number | null)[] = listOf(valuesOf('int32', bytes))
  const power = 10 ** scale
  for (let k = 0; k < list.length; k++) list[k] = list[k] === NULL ? null : (list[k] ?? 0) / power
  return JSON.stringify(list)
}

/** By hand: Array.from walks an iterator, which takes five times as long. */
function listOf(values: TypedValues): number[] {
  const list = Array<number>(values.length)
  for (let k = 0; k < values.length; k++) list[k] = values[k] ?? 0
  return list
}

/** As typed data; null becomes NaN. */
export function typedOf({ form, bytes }: Column): string {
  const scale = scaleOf(form)
  const dtype = scale === undefined ? dtypeOf(form) : 'float64'
  const values = scale === undefined ? bytes : bytesOfValues(undecimal(bytes, scale))
  return `{"dtype":"${dtype}","data":"${Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('base64')}"}`
}

function undecimal(bytes: Uint8Array, scale: number): Float64Array {
  const ints = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
  return Float64Array.from(ints, (x) => (x === NULL ? Number.NaN : x / 10 ** scale))
}

function bytesOfValues({ buffer, byteOffset, byteLength }: TypedValues): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function scaleOf(form: Form): number | undefined {
  return form.startsWith('decimal/') ? Number(form.slice('decimal/'.length)) : undefined
}

function dtypeOf(form: Form): Dtype {
  return form.slice(form.indexOf('/') + 1) as Dtype // no decimal, so one of the others
}
