/** Closes what a process has opened, in reverse order, after the requests that wait for something are answered. */

export interface Closable {
  close(): Promise<void> | void
}

export class Closers implements Closable {
  readonly #open: Closable[] = []
  readonly #endWaits: (() => void)[] = []

  /** Returns its argument, so that it can wrap the call that creates the resource. */
  add<T extends Closable>(resource: T): T {
    this.#open.push(resource)
    return resource
  }

  /** Registers what ends the waits of requests, so that they are answered with the current state on shutdown. */
  beforeDrain(endWait: () => void): void {
    this.#endWaits.push(endWait)
  }

  /** Ends the waits, before the HTTP server waits for its last requests. */
  drain(): void {
    for (const endWait of this.#endWaits) endWait()
  }

  async close(): Promise<void> {
    for (const resource of this.#open.splice(0).toReversed()) await resource.close()
  }
}
