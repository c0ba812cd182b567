/** Work that equal calls share while it is done: the first starts it, and it is aborted once all of them have left. */

interface Running<T> {
  result: Promise<T>
  callers: number
  abort: AbortController
}

export class SharedWork<T> {
  readonly #running = new Map<string, Running<T>>()

  /** `signal` aborts when the caller leaves. `start` gets one that aborts when all callers have left. */
  join(key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const running = this.#running.get(key) ?? this.#start(key, start)
    running.callers++
    const leave = () => {
      running.callers--
      if (running.callers > 0) return
      running.abort.abort(signal.reason)
      this.#remove(key, running) // a later caller starts again
    }
    if (signal.aborted) leave()
    else {
      signal.addEventListener('abort', leave, { once: true })
      void running.result.catch(() => {}).then(() => signal.removeEventListener('abort', leave))
    }
    return running.result
  }

  #start(key: string, start: (signal: AbortSignal) => Promise<T>): Running<T> {
    const abort = new AbortController()
    const running = { result: start(abort.signal), callers: 0, abort }
    this.#running.set(key, running)
    void running.result.catch(() => {}).then(() => this.#remove(key, running)) // callers handle the error
    return running
  }

  #remove(key: string, running: Running<T>): void {
    if (this.#running.get(key) === running) this.#running.delete(key)
  }
}
