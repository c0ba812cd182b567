/** Calls the server during a soak, and records how long each call took and which responses were not expected. */
import { type CallOptions, type CallResponse, call } from '../support/http.ts'

const REQUEST_TIMEOUT_MS = 120_000
const RETRYABLE_CODES = ['items_not_ready', 'make_timeout', 'buffer_full']
const MAX_EXAMPLES = 20
/** Slower in the last sixth than in the first: by both, and with so many calls in each. */
const P99_FACTOR = 4
const P99_MARGIN_MS = 1000
const MIN_CALLS_FOR_P99 = 50
const MAX_RETRY_SHARE = 0.01
const MIN_RETRIES = 20

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

  /** The latencies of each kind for a table, and what was slow or not expected. */
  assess(seconds: number): { rows: Record<string, object>; failures: string[] } {
    const failures = [...this.#unexpected].map(
      ([what, { count, example }]) => `Unexpected: ${count} × ${what}; the first: ${example}`,
    )
    if (this.retryCount > Math.max(MIN_RETRIES, this.callCount * MAX_RETRY_SHARE))
      failures.push(`${this.retryCount} calls were asked to come again`)
    const rows: Record<string, object> = {}
    for (const [kind, calls] of this.#calls) {
      const first = summarize(calls.filter(([at]) => at < seconds / 6))
      const last = summarize(calls.filter(([at]) => at >= (5 * seconds) / 6))
      rows[kind] = {
        calls: calls.length,
        'p50, first': first.p50,
        last: last.p50,
        'p99, first': first.p99,
        'p99, last': last.p99,
      }
      const isComparable = Math.min(first.count, last.count) >= MIN_CALLS_FOR_P99
      if (isComparable && last.p99 > Math.max(first.p99 * P99_FACTOR, first.p99 + P99_MARGIN_MS))
        failures.push(`${kind}: p99 went from ${first.p99} to ${last.p99} ms`)
    }
    return { rows, failures }
  }
}

function summarize(calls: readonly [number, number][]) {
  const waits = calls.map(([, ms]) => ms).toSorted((a, b) => a - b)
  const at = (share: number) => Math.round(waits[Math.floor(waits.length * share)] ?? 0)
  return { count: waits.length, p50: at(0.5), p99: at(0.99) }
}

interface SoakCallOptions extends CallOptions {
  /** What the call counts as; if absent, its method and path with the names replaced. */
  kind?: string
  /** Expected status in addition to 2xx, which the soak provokes. */
  expect?: number
}

export class SoakClient {
  readonly url: string
  readonly log: CallLog
  /** Aborted at the end of the soak, so that waiting actors stop immediately. */
  readonly signal: AbortSignal

  constructor(url: string, log: CallLog, signal: AbortSignal) {
    this.url = url
    this.log = log
    this.signal = signal
  }

  /** Does not throw for any response. Logs an unexpected one and returns it unchanged. */
  async call(method: string, path: string, options: SoakCallOptions = {}): Promise<CallResponse> {
    const { kind = kindOf(method, path), expect, ...more } = options
    const started = performance.now()
    const response = await call(method, this.url + path, { ...more, timeoutMs: REQUEST_TIMEOUT_MS }).catch(
      (cause: Error) => {
        throw new Error(`${kind}: ${cause.message}; ${JSON.stringify(more.body ?? '').slice(0, 200)}`, { cause })
      },
    )
    this.log.addCall(kind, performance.now() - started)
    if (!response.ok && response.status !== expect) {
      if (asksForRetry(response)) this.log.retryCount++
      else this.log.addUnexpected(kind, String(response.status), response.text)
    }
    return response
  }
}

function kindOf(method: string, path: string): string {
  const pattern = path
    .replace(/\?.*$/, '')
    .replace(/(?<=\/(?:runs|items|eval|collect|batches|dumps)\/)(?!compare)[^/]+/g, '{id}')
  return `${method} ${pattern}`
}

/** Whether the response requests a retry as the contract allows. An unavailable Redis or engine is a failure of the soak. */
function asksForRetry({ status, headers, text }: CallResponse): boolean {
  const isRefused = (status === 429 || status === 503) && headers.has('retry-after')
  return isRefused && RETRYABLE_CODES.some((code) => text.includes(`"${code}"`))
}
