/**
 * Encodes the output of a response into slices of one size. Slices are copies, so a slow client holds a slice and not
 * its source.
 */
import type { EventLoopBudget } from '../../platform/event-loop-budget.ts'

const SLICE_BYTES = 64 * 1024
const MAX_CHARACTER_BYTES = 4
const MAX_UTF8_BYTES_PER_CHAR = 3
const ENCODER = new TextEncoder()

export class ReplySlices {
  readonly #steps: EventLoopBudget
  #slice = Buffer.allocUnsafeSlow(SLICE_BYTES)
  #length = 0

  constructor(steps: EventLoopBudget) {
    this.#steps = steps
  }

  /** Yields the slices that are full. */
  async *add(text: string): AsyncGenerator<Buffer> {
    for (let at = 0; at < text.length; ) {
      at += await this.#steps.run(() => this.#write(at === 0 ? text : text.slice(at)))
      if (this.#length > SLICE_BYTES - MAX_CHARACTER_BYTES) yield this.#take()
    }
  }

  /** Adds a short text at once, without the promises of `add`. Returns false if it may not fit into the slice. */
  append(text: string): boolean {
    if (text.length * MAX_UTF8_BYTES_PER_CHAR > SLICE_BYTES - MAX_CHARACTER_BYTES - this.#length) return false
    this.#write(text)
    return true
  }

  /** Yields what is left. */
  *end(): Generator<Buffer> {
    if (this.#length > 0) yield this.#take()
  }

  /** Returns the position reached in the text. Writes whole characters only. */
  #write(text: string): number {
    const { read, written } = ENCODER.encodeInto(text, this.#slice.subarray(this.#length))
    this.#length += written
    return read
  }

  #take(): Buffer {
    const full = this.#slice.subarray(0, this.#length)
    this.#slice = Buffer.allocUnsafeSlow(SLICE_BYTES)
    this.#length = 0
    return full
  }
}
