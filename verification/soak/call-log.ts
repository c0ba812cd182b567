/** Records every call of a soak: its duration, and unexpected responses. */

const MAX_EXAMPLES = 20

/** Latencies of one kind of call in one period, in milliseconds. */
export interface Latency {
  count: number
  p50: number
  p99: number
}

export class CallLog {
  /** By kind: pairs of the second of the call and its duration in milliseconds. */
  readonly #calls = new Map<string, [number, number][]>()
  readonly #unexpected = new Map<string, { count: number; example: string }>()
  readonly #startedAt = performance.now()
  callCount = 0
  unexpectedCount = 0
  /** Number of responses that request a retry as the contract allows: 429 or 503 with Retry-After. */
  retryCount = 0

  get seconds(): number {
    return (performance.now() - this.#startedAt) / 1000
  }

  addCall(kind: string, ms: number): void {
    this.callCount++
    const calls = this.#calls.get(kind) ?? []
    calls.push([this.seconds, ms])
    this.#calls.set(kind, calls)
  }

  addUnexpected(kind: string, what: string, example: string): void {
    this.unexpectedCount++
    const key = `${kind}: ${what}`
    const entry = this.#unexpected.get(key) ?? { count: 0, example: example.slice(0, 300) }
    entry.count++
    if (this.#unexpected.size < MAX_EXAMPLES || this.#unexpected.has(key)) this.#unexpected.set(key, entry)
  }

  listUnexpected(): string[] {
    return [...this.#unexpected].map(([what, { count, example }]) => `${count} × ${what}; the first: ${example}`)
  }

  listKinds(): string[] {
    return [...this.#calls.keys()].toSorted()
  }

  summarize(kind: string, fromS: number, untilS: number): Latency {
    const inSpan = (this.#calls.get(kind) ?? []).filter(([at]) => at >= fromS && at < untilS)
    const waits = inSpan.map(([, ms]) => ms).toSorted((a, b) => a - b)
    const at = (share: number) => waits[Math.floor(waits.length * share)] ?? 0
    return { count: waits.length, p50: at(0.5), p99: at(0.99) }
  }
}
