/**
 * A deadline for what another process does, in that process's own time: while it waits for a processor that others use, or this
 * process stands still, its time does not pass, for up to eight times the deadline. It passes while the process computes, sleeps,
 * waits or is stopped.
 */
import { readFileSync } from 'node:fs'
import { setImmediate as afterPendingMessages } from 'node:timers/promises'

/** On an overloaded machine a process may take this many times its deadline. */
const MAX_EXTENSION_FACTOR = 8
/** To ask for the time of a process costs more than a quick deadline is worth. */
const BASELINE_AGE_MS = 50
/** What the clocks of the kernel and of this process may differ by. */
const TOLERANCE_MS = 20

export class ProcessDeadline {
  readonly #pid: number
  readonly #onExpired: (isStarved: boolean) => void
  #timer: NodeJS.Timeout | undefined
  #forgivesLateness = true
  #ownTimeBaselineMs = 0
  #baselineAt = Number.NEGATIVE_INFINITY

  /** `isStarved`: others kept the process from using its time, so that it might have made it on another day. */
  constructor(pid: number, onExpired: (isStarved: boolean) => void) {
    this.#pid = pid
    this.#onExpired = onExpired
  }

  /** Counts from now, and forgets the deadline before. */
  start(deadlineMs: number): void {
    clearTimeout(this.#timer)
    this.#forgivesLateness = true
    const now = performance.now()
    if (now - this.#baselineAt > BASELINE_AGE_MS) {
      this.#baselineAt = now
      this.#ownTimeBaselineMs = getOwnTimeMs(this.#pid)
    }
    const patienceMs = deadlineMs * (MAX_EXTENSION_FACTOR - 1)
    this.#wait(deadlineMs, deadlineMs, patienceMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #wait(ms: number, deadlineMs: number, patienceMs: number): void {
    const dueAt = performance.now() + ms
    this.#timer = setTimeout(() => void this.#handleTimer(dueAt, deadlineMs, patienceMs), ms)
  }

  async #handleTimer(dueAt: number, deadlineMs: number, patienceMs: number): Promise<void> {
    // What made this process late may have kept the other from its time. Forgiven once: an event loop under load is always a bit late.
    const lateMs = this.#forgivesLateness ? performance.now() - dueAt : 0
    if (lateMs > TOLERANCE_MS) this.#forgivesLateness = false
    const timer = this.#timer
    await afterPendingMessages() // the answer may already be there if the event loop was busy
    if (this.#timer !== timer) return
    const ownMissingMs = deadlineMs - (getOwnTimeMs(this.#pid) - this.#ownTimeBaselineMs)
    const missingMs = Math.max(ownMissingMs, Math.min(lateMs, deadlineMs))
    const isStarved = missingMs > TOLERANCE_MS
    if (isStarved && patienceMs > 0) {
      const moreMs = Math.min(missingMs, patienceMs)
      this.#wait(moreMs, deadlineMs, patienceMs - moreMs)
    } else this.#onExpired(isStarved)
  }
}

const NS_PER_MS = 1e6
const CLOCK_TICK_MS = 10

/**
 * The time without that in which the process could have run and others ran; only differences mean anything. Kernels that do
 * not count the wait give the processor time, and a system without /proc the clock.
 */
function getOwnTimeMs(pid: number): number {
  const waitedNs = Number(readProcFile(pid, 'schedstat')?.split(' ')[1])
  if (!Number.isNaN(waitedNs)) return performance.now() - waitedNs / NS_PER_MS
  const fields = readProcFile(pid, 'stat')?.split(') ')[1]?.split(' ')
  return fields ? (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS : performance.now()
}

function readProcFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return undefined
  }
}
