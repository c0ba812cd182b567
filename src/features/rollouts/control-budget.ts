/** Limits the time of the controls to a share of the time that scoring takes. */

/**
 * Share of the busy time of the event loop, and of the time that the library scores. Together, the controls stay under
 * 3%.
 */
const MAX_SHARE = 0.02
/** Initial budget in milliseconds, for the first groups of a process, before its work has earned any time. */
const INITIAL_MS = 250

export class ControlBudget {
  readonly #measureWorkMs: () => number
  #spentMs = 0

  /** `measureWorkMs` returns the total time so far of the work that the controls accompany. */
  constructor(measureWorkMs: () => number) {
    this.#measureWorkMs = measureWorkMs
  }

  hasLeft(): boolean {
    return this.#spentMs < INITIAL_MS + MAX_SHARE * this.#measureWorkMs()
  }

  spend(ms: number): void {
    this.#spentMs += ms
  }
}
