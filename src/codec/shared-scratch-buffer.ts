/**
 * Bytes for what is made and used up within one turn of the event loop. A buffer of its own for each would cost more than the
 * work: V8 begins a full collection with every 64 MB of them.
 */

const SHARED_BUFFER_BYTES = 16 * 1024 * 1024
const sharedBuffer = Buffer.allocUnsafeSlow(SHARED_BUFFER_BYTES) // takes memory only as far as it was ever written

/** So many, at a multiple of 8; what was written before may stand in them. Whoever asks next gets the same. */
export function sharedScratchBuffer(bytes: number): Buffer {
  return bytes <= SHARED_BUFFER_BYTES ? sharedBuffer.subarray(0, bytes) : Buffer.allocUnsafeSlow(bytes)
}
