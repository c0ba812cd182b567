/**
 * The batches that wait for a Python worker, in a line for each kind of work and another for its programs. The line with the
 * fewest workers goes first, and of equal ones that which has waited longest, so that none keeps another waiting, however long it is.
 */
import { getWorkLine, type PythonWorkerRequest, type WorkLine } from './python-worker.ts'

export class FairQueue {
  /** In the order in which they were last served. */
  readonly #lines = new Map<WorkLine, PythonWorkerRequest[]>()
  #units = 0

  /** Units of all batches that wait. */
  get units(): number {
    return this.#units
  }

  push(batch: PythonWorkerRequest): void {
    this.#lineOf(batch).push(batch)
    this.#units += batch.units.length
  }

  /** Returns the unfinished rest of a batch to the front of its line. */
  pushFirst(batch: PythonWorkerRequest): void {
    this.#lineOf(batch).unshift(batch)
    this.#units += batch.units.length
  }

  /** Batches that wait. */
  get count(): number {
    let count = 0
    for (const line of this.#lines.values()) count += line.length
    return count
  }

  /** Removes the next batch that may start; undefined if there is none. `countWorkers`: how many workers a line has. */
  take(
    countWorkers: (line: WorkLine) => number,
    mayStart: (batch: PythonWorkerRequest) => boolean,
  ): PythonWorkerRequest | undefined {
    if (this.#units === 0) return undefined
    const waiting = [...this.#lines].filter(([, line]) => line.length > 0)
    if (waiting.length > 1) waiting.sort(([a], [b]) => countWorkers(a) - countWorkers(b)) // stable
    for (const [name, line] of waiting) {
      const at = line.findIndex(mayStart)
      const [batch] = at < 0 ? [] : line.splice(at, 1)
      if (!batch) continue
      this.#units -= batch.units.length
      this.#lines.delete(name)
      this.#lines.set(name, line)
      return batch
    }
    return undefined
  }

  /** Removes all batches. */
  clear(): PythonWorkerRequest[] {
    const batches = [...this.#lines.values()].flat()
    this.#lines.clear()
    this.#units = 0
    return batches
  }

  #lineOf(batch: PythonWorkerRequest): PythonWorkerRequest[] {
    const name = getWorkLine(batch)
    const line = this.#lines.get(name) ?? []
    this.#lines.set(name, line)
    return line
  }
}
