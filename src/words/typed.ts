/** Lists of numbers as they come in: JSON, or bytes in base64 with their type. Little-endian, as numpy writes them. */
import { areNumbers, type Numbers } from '../number-lists/numbers.ts'
import { release } from '../release.ts'

/** Bytes of one number. */
export const DTYPES = { int32: 4, float32: 4, uint8: 1, int16: 2, float64: 8 } as const
export type Dtype = keyof typeof DTYPES

/** Numbers as bytes in base64, with its padding. */
export interface Typed {
  dtype: Dtype
  data: string
}

/** JSON Schema of such numbers, for the API's document. */
export const TYPED_SCHEMA = {
  type: 'object',
  properties: {
    dtype: { type: 'string', enum: Object.keys(DTYPES) },
    data: { type: 'string', contentEncoding: 'base64', description: 'The numbers’ bytes, little-endian, in base64' },
  },
  required: ['dtype', 'data'],
  additionalProperties: false,
}

/** A list as JSON has it, or as it was read from the bytes of a large body: there NaN stands for null. */
export type NumberList = (number | null)[] | Numbers

/** Whether a value wants to be read as typed data: then it must be. */
export function looksTyped(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { dtype, data, ...more } = value as Record<string, unknown> // an object, as was seen
  return (
    typeof dtype === 'string' &&
    Object.hasOwn(DTYPES, dtype) &&
    typeof data === 'string' &&
    Object.keys(more).length === 0
  )
}

/** Whether it can be read: decoding passes over what is no base64, so that less comes out than was announced. */
export function isTyped(value: unknown): value is Typed {
  if (!looksTyped(value)) return false
  const typed = value as Typed // as it looks
  const { dtype, data } = typed
  if (data.length % 4 !== 0 || data.includes('-') || data.includes('_')) return false // base64url is decoded, too
  const bytes = byteLength(data)
  return bytes % DTYPES[dtype] === 0 && bytesOf(typed).byteLength === bytes
}

/** Numbers that JSON keeps, as tokens have to be: it rounds whole ones beyond these, and 1e400 is read as infinite. */
export function areExact(value: unknown): value is NumberList {
  if (value instanceof Int32Array) return true
  if (areNumbers(value)) return areWithin(value)
  if (!Array.isArray(value)) return false
  const { length } = value
  for (let k = 0; k < length; k++) {
    const x: unknown = value[k]
    if (typeof x !== 'number' || !(Math.abs(x) <= Number.MAX_SAFE_INTEGER)) return false
  }
  return true
}

/** A null, which is NaN, is within no bounds. */
function areWithin(values: Numbers): boolean {
  const { length } = values
  for (let k = 0; k < length; k++) {
    if (!(Math.abs(values[k] ?? 0) <= Number.MAX_SAFE_INTEGER)) return false
  }
  return true
}

/** Finite numbers and nulls. Those read from the bytes of a body are: 20 digits and 40 places are less than a double holds. */
export function areFinite(value: unknown): value is NumberList {
  if (areNumbers(value)) return true
  if (!Array.isArray(value)) return false
  const { length } = value
  for (let k = 0; k < length; k++) {
    const x: unknown = value[k]
    if (x !== null && !Number.isFinite(x)) return false
  }
  return true
}

/** Whether numbers are a list, and not typed. */
export function isList(array: NumberList | Typed): array is NumberList {
  return Array.isArray(array) || areNumbers(array)
}

/** How many numbers there are. */
export function countOf(array: NumberList | Typed): number {
  return isList(array) ? array.length : byteLength(array.data) / DTYPES[array.dtype]
}

function byteLength(base64: string): number {
  return (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0)
}

export type TypedValues = Int32Array | Float32Array | Uint8Array | Int16Array | Float64Array

/** The numbers in `bytes`, which begin at a multiple of 8 in their buffer. */
export function valuesOf(dtype: Dtype, { buffer, byteOffset, byteLength: bytes }: Uint8Array): TypedValues {
  switch (dtype) {
    case 'int32':
      return new Int32Array(buffer, byteOffset, bytes / 4)
    case 'float32':
      return new Float32Array(buffer, byteOffset, bytes / 4)
    case 'int16':
      return new Int16Array(buffer, byteOffset, bytes / 2)
    case 'uint8':
      return new Uint8Array(buffer, byteOffset, bytes)
    case 'float64':
      return new Float64Array(buffer, byteOffset, bytes / 8)
  }
}

/** Aligned. Decoded once, however often it is asked for. */
export function bytesOf(typed: Typed): Uint8Array {
  let bytes = DECODED.get(typed)
  if (!bytes) {
    bytes = aligned(Buffer.from(typed.data, 'base64'))
    DECODED.set(typed, bytes)
  }
  return bytes
}

/** The same bytes, or a copy of them, that begin at a multiple of 8 in their buffer. */
export function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes)
}

/** Gives the memory of numbers back that nobody reads any more: see release. */
export function releaseNumbers(array: NumberList | Typed): void {
  if (areNumbers(array)) release(array)
  if (isList(array)) return
  const bytes = DECODED.get(array)
  if (bytes) release(bytes)
  DECODED.delete(array)
}

const DECODED = new WeakMap<Typed, Uint8Array>()
