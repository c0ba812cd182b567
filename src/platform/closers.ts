/** Closes what a process has opened, in reverse order. */

export interface Closable {
  close(): Promise<void> | void
}

export class Closers implements Closable {
  readonly #open: Closable[] = []

  /** Returns its argument, so that it can wrap the call that creates the resource. */
  add<T extends Closable>(resource: T): T {
    this.#open.push(resource)
    return resource
  }

  async close(): Promise<void> {
    for (const resource of this.#open.splice(0).toReversed()) await resource.close()
  }
}
