/** Calls as a trainer makes them: to any node, again and again until there is an answer. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type CallResponse, call } from './http.ts'
import type { SeededRandom } from './seeded-random.ts'

const TOTAL_TIMEOUT_MS = 600_000 // on a busy machine a node is long in coming back
const REQUEST_TIMEOUT_MS = 20_000
const MAX_RETRY_DELAY_MS = 2000

interface RetryingClientParams {
  urls: readonly string[]
  random: SeededRandom
  /** No call is made again once it is aborted. */
  signal: AbortSignal
  /** Called for responses of 500 and more that are not 503: no failure of a part is one. */
  onServerError: (what: string) => void
}

export class RetryingClient {
  readonly #params: RetryingClientParams
  /** Tries that got no answer, or were told to come again. */
  retryCount = 0

  constructor(params: RetryingClientParams) {
    this.#params = params
  }

  /** The first response that is not lost and does not ask for a retry (429, 5xx, and a 409 with Retry-After). */
  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<CallResponse> {
    const { urls, random, signal } = this.#params
    let last = 'nothing'
    for (const until = Date.now() + TOTAL_TIMEOUT_MS; Date.now() < until && !signal.aborted; this.retryCount++) {
      let delayMs = 100
      try {
        const options = { body, headers, timeoutMs: REQUEST_TIMEOUT_MS }
        const response = await call(method, random.pick(urls) + path, options)
        last = `${response.status} ${response.text.slice(0, 500)}`
        if (response.status >= 500 && response.status !== 503) this.#params.onServerError(`${method} ${path}: ${last}`)
        if (!asksForRetry(response)) return response
        delayMs = Math.max(delayMs, Number(response.headers.get('retry-after') ?? 0) * 1000)
      } catch (error) {
        last = error instanceof Error ? `${error.message} ${String(error.cause)}` : String(error)
      }
      await sleep(Math.min(MAX_RETRY_DELAY_MS, delayMs) * random.between(0.5, 1))
    }
    throw new Error(`${method} ${path} had no answer for ${TOTAL_TIMEOUT_MS / 1000} s; the last was ${last}`)
  }
}

function asksForRetry({ status, headers }: CallResponse): boolean {
  return status === 429 || status >= 500 || (status === 409 && headers.has('retry-after'))
}
