/**
 * One buffer for bytes that are written and used up within one turn of the event loop. Never keep a view of it over an await.
 *
 * Symptom: a buffer for each use costs more than the work, and V8 starts a full collection with each 64 MB of them.
 * Gain: W6 in 195 groups a second, without it 141; a quarter of the time of writing float32 in W6 out.
 * Measure: npm run bench -- --only tokens,rollouts [--without shared-scratch-buffer]
 * Delete when: W6 loses less than a tenth without it.
 */

const SHARED_BUFFER_BYTES = 16 * 1024 * 1024
const sharedBuffer = Buffer.allocUnsafeSlow(SHARED_BUFFER_BYTES) // takes memory only as far as it was ever written

/** Returns `bytes` bytes, aligned to 8. They may hold earlier contents, and the next call returns the same memory. */
export function sharedScratchBuffer(bytes: number): Buffer {
  return bytes <= SHARED_BUFFER_BYTES ? sharedBuffer.subarray(0, bytes) : Buffer.allocUnsafeSlow(bytes)
}
