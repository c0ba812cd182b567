/** Bytes as they lie in Redis: a frame of zstd, or behind a zero, with which no frame begins, as they are. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { release } from '../release.ts'

/** Shorter ones do not pay. */
const WORTH_BYTES = 256
const PLAIN = Buffer.of(0)
/** What stood before a frame in earlier versions. */
const BEFORE_FRAME = 1
/** Measured on groups of 1 MB of JSON: level 1 takes 0.4 ms, level 3 half as much again for 0.1 % less. */
const FAST = { [constants.ZSTD_c_compressionLevel]: 1 }
/** Of what is compressed, what is left. */
const LIKELY_SHARE = 0.6
/** Bytes that are unpacked at once; so many of what does not say how long it will be. */
const ROOM_BYTES = { least: 64, most: 16 * 1024 * 1024, unknown: 64 * 1024 }

export function toBlob(bytes: Uint8Array): Buffer {
  const { byteLength } = bytes
  if (byteLength >= WORTH_BYTES) {
    // With its size known in advance and room for all of it at once it takes a quarter less. Most is half as long.
    const chunkSize = Math.max(ROOM_BYTES.least, Math.ceil(byteLength * LIKELY_SHARE))
    const compressed = zstdCompressSync(bytes, { params: FAST, pledgedSrcSize: byteLength, chunkSize })
    if (compressed.byteLength < byteLength) return alone(compressed, chunkSize)
  }
  return Buffer.concat([PLAIN, bytes])
}

export function fromBlob(blob: Buffer): Buffer {
  if (blob[0] === PLAIN[0]) return blob.subarray(1)
  const frame = blob[0] === BEFORE_FRAME ? blob.subarray(1) : blob
  return zstdDecompressSync(frame, { chunkSize: roomFor(contentSize(frame)) })
}

/** In memory of their own size: what they were written into is given back, unless it is of the pool. */
function alone(compressed: Buffer, chunkSize: number): Buffer {
  const blob = Buffer.from(compressed)
  if (compressed.buffer.byteLength === chunkSize) release(new Uint8Array(compressed.buffer))
  return blob
}

const DICTIONARY_BYTES = [0, 1, 2, 4]

function roomFor(bytes: number | undefined): number {
  const { least, most, unknown } = ROOM_BYTES
  return Math.min(Math.max(bytes ?? unknown, least), most)
}

/** What the header of a frame says of the size of its content (RFC 8878, 3.1.1.1); undefined if nothing. */
function contentSize(frame: Buffer): number | undefined {
  const descriptor = frame[4] ?? 0
  const [flag, isSingle, dictionary] = [descriptor >> 6, (descriptor & 0x20) !== 0, descriptor & 3]
  const at = 5 + (isSingle ? 0 : 1) + (DICTIONARY_BYTES[dictionary] ?? 0)
  if (flag === 0) return isSingle ? frame[at] : undefined
  if (flag === 1) return frame.readUInt16LE(at) + 256
  return flag === 2 ? frame.readUInt32LE(at) : undefined
}
