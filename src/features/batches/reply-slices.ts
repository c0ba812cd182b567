/** Cuts what is written to a reply into slices of one size: copies, so that a slow client holds a slice and not its source. */
import type { TimeSlices } from '../../platform/time-slices.ts'

const SLICE_BYTES = 64 * 1024

export class ReplySlices {
  readonly #steps: TimeSlices
  #slice = Buffer.allocUnsafeSlow(SLICE_BYTES)
  #length = 0

  constructor(steps: TimeSlices) {
    this.#steps = steps
  }

  /** Yields the slices that are full. */
  async *add(piece: string | Buffer): AsyncGenerator<Buffer> {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    for (let at = 0; at < bytes.length; ) {
      at += await this.#steps.run(() => this.#copy(bytes, at))
      if (this.#length === SLICE_BYTES) yield this.#take()
    }
  }

  /** Yields what is left. */
  *end(): Generator<Buffer> {
    if (this.#length > 0) yield this.#take()
  }

  #copy(bytes: Buffer, from: number): number {
    const copied = bytes.copy(this.#slice, this.#length, from)
    this.#length += copied
    return copied
  }

  #take(): Buffer {
    const full = this.#slice.subarray(0, this.#length)
    this.#slice = Buffer.allocUnsafeSlow(SLICE_BYTES)
    this.#length = 0
    return full
  }
}
