/** Lists of numbers as they come in: JSON, or bytes in base64 with their type. Little-endian, as numpy writes them. */
import { detachBuffer } from './detach-buffer.ts'

/** The array of each type. */
export const DTYPE_ARRAYS = {
  int32: Int32Array,
  float32: Float32Array,
  uint8: Uint8Array,
  int16: Int16Array,
  float64: Float64Array,
}
export type Dtype = keyof typeof DTYPE_ARRAYS

/** Numbers as bytes in base64, with its padding. */
export interface Base64Array {
  dtype: Dtype
  data: string
}

/** JSON Schema of such numbers, for the API's document. */
export const BASE64_ARRAY_SCHEMA = {
  id: 'TypedArray',
  type: 'object',
  description: 'Numbers as typed data.',
  properties: {
    dtype: { type: 'string', enum: Object.keys(DTYPE_ARRAYS), description: 'Type of the numbers.' },
    data: { type: 'string', contentEncoding: 'base64', description: 'Bytes of the numbers, little-endian, in base64.' },
  },
  required: ['dtype', 'data'],
  additionalProperties: false,
}

/** A list as JSON has it. */
export type NumberList = (number | null)[]

/** Whether a value wants to be read as typed data: then it must be. */
export function looksLikeBase64Array(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { dtype, data, ...more } = value as Record<string, unknown> // an object, as was seen
  return (
    typeof dtype === 'string' &&
    Object.hasOwn(DTYPE_ARRAYS, dtype) &&
    typeof data === 'string' &&
    Object.keys(more).length === 0
  )
}

/** Whether it can be read: decoding passes over what is no base64, so that less comes out than was announced. */
export function isBase64Array(value: unknown): value is Base64Array {
  if (!looksLikeBase64Array(value)) return false
  const typed = value as Base64Array // as it looks
  const { dtype, data } = typed
  if (data.length % 4 !== 0 || data.includes('-') || data.includes('_')) return false // base64url is decoded, too
  const bytes = base64ByteLength(data)
  return bytes % DTYPE_ARRAYS[dtype].BYTES_PER_ELEMENT === 0 && getOrDecodeBytes(typed).byteLength === bytes
}

/** Numbers that JSON keeps, as tokens have to be: it rounds whole ones beyond these, and 1e400 is read as infinite. */
export function isSafeNumberList(value: unknown): value is NumberList {
  if (!Array.isArray(value)) return false
  const { length } = value
  for (let k = 0; k < length; k++) {
    const x: unknown = value[k]
    if (typeof x !== 'number' || !(Math.abs(x) <= Number.MAX_SAFE_INTEGER)) return false
  }
  return true
}

/** Finite numbers and nulls. */
export function isFiniteNumberList(value: unknown): value is NumberList {
  if (!Array.isArray(value)) return false
  const { length } = value
  for (let k = 0; k < length; k++) {
    const x: unknown = value[k]
    if (x !== null && !Number.isFinite(x)) return false
  }
  return true
}

/** Whether numbers are a list, and not typed. */
export function isNumberList(array: NumberList | Base64Array): array is NumberList {
  return Array.isArray(array)
}

/** How many numbers there are. */
export function countNumbers(array: NumberList | Base64Array): number {
  return isNumberList(array) ? array.length : base64ByteLength(array.data) / DTYPE_ARRAYS[array.dtype].BYTES_PER_ELEMENT
}

function base64ByteLength(base64: string): number {
  return (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0)
}

export type TypedNumbers = Int32Array | Float32Array | Uint8Array | Int16Array | Float64Array

/** The numbers in `bytes`, which begin at a multiple of 8 in their buffer. */
export function viewAsNumbers(dtype: Dtype, { buffer, byteOffset, byteLength: bytes }: Uint8Array): TypedNumbers {
  const NumbersArray = DTYPE_ARRAYS[dtype]
  return new NumbersArray(buffer as ArrayBuffer, byteOffset, bytes / NumbersArray.BYTES_PER_ELEMENT) // nothing shares its memory
}

/** Aligned. Decoded once, however often it is asked for. */
export function getOrDecodeBytes(typed: Base64Array): Uint8Array {
  let bytes = DECODED_BYTES.get(typed)
  if (!bytes) {
    bytes = alignTo8Bytes(Buffer.from(typed.data, 'base64'))
    DECODED_BYTES.set(typed, bytes)
  }
  return bytes
}

/** The same bytes, or a copy of them, that begin at a multiple of 8 in their buffer. */
export function alignTo8Bytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes)
}

/** Frees the memory of typed data that is no longer read (detach-buffer.ts). */
export function detachNumbers(array: NumberList | Base64Array): void {
  if (isNumberList(array)) return
  const bytes = DECODED_BYTES.get(array)
  if (bytes) detachBuffer(bytes)
  DECODED_BYTES.delete(array)
}

const DECODED_BYTES = new WeakMap<Base64Array, Uint8Array>()
