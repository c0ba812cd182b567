/** Bytes to write a text in, until it is read out of them: a buffer for each list costs more than the writing. */

const KEPT_BYTES = 1024 * 1024
const kept = Buffer.allocUnsafeSlow(KEPT_BYTES)

/** At least as many; what was written before may stand in them. Whoever asks next gets the same. */
export function scratch(bytes: number): Buffer {
  return bytes <= KEPT_BYTES ? kept : Buffer.allocUnsafeSlow(bytes)
}
