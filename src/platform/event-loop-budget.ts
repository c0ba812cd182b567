/**
 * Runs the steps of long computations first in, first out, and lets the event loop turn every few milliseconds, so that
 * short requests do not wait for large replies.
 */
const SLICE_MS = 10

export class EventLoopBudget {
  readonly #waiting: (() => void)[] = []
  #sliceEnd: number | undefined

  /** Runs the step at once if this turn of the event loop has time left. */
  run<T>(step: () => T): T | Promise<T> {
    if (this.#waiting.length === 0 && this.#hasTime()) return step()
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(step())
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  #hasTime(): boolean {
    if (this.#sliceEnd === undefined) {
      this.#sliceEnd = performance.now() + SLICE_MS
      setImmediate(this.#startNextSlice)
    }
    return performance.now() < this.#sliceEnd
  }

  readonly #startNextSlice = (): void => {
    this.#sliceEnd = undefined
    while (this.#waiting.length > 0 && this.#hasTime()) this.#waiting.shift()?.()
  }
}
