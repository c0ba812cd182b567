/** The compiled reader, ready: what assembly/read.ts exports, with the powers of ten that it multiplies by. */
import { readFileSync } from 'node:fs'
import { powersOfTen } from './powers-of-ten.ts'

interface WasmExports {
  memory: { buffer: ArrayBuffer }
  MOST_BYTES: { value: number }
  TEXT: { value: number }
  NUMBERS: { value: number }
  LEAST_POWER: { value: number }
  MOST_POWER: { value: number }
  POWERS: { value: number }
  read: (bytes: number) => number
}

/** Node's types leave it to those of browsers. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: WasmExports }
}

const module = new WebAssembly.Module(readFileSync(new URL('read.wasm', import.meta.url)))
const { memory, MOST_BYTES, TEXT, NUMBERS, LEAST_POWER, MOST_POWER, POWERS, read } = new WebAssembly.Instance(module)
  .exports

const powersOfTenTable = powersOfTen(LEAST_POWER.value, MOST_POWER.value)
new BigUint64Array(memory.buffer, POWERS.value, powersOfTenTable.length).set(powersOfTenTable)

/** Bytes that can be read at once. */
export const maxChunkBytes = MOST_BYTES.value
export const textBuffer = new Uint8Array(memory.buffer, TEXT.value, maxChunkBytes)
export const numberBuffer = new Float64Array(memory.buffer, NUMBERS.value, maxChunkBytes / 2)
/** Reads so many bytes of the text; gives how many numbers there are then, or -1 for what it does not take. */
export { read }
