/** Calls as a trainer makes them: to any node, again and again until there is an answer. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from './seeded-random.ts'

const TOTAL_TIMEOUT_MS = 600_000 // on a busy machine a node is long in coming back
const REQUEST_TIMEOUT_MS = 20_000
const MAX_RETRY_DELAY_MS = 2000

export interface TrainerResponse {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a trainer reads what the contract promises, and fails where it is not there
  body: any
}

export class RetryingClient {
  readonly #urls: string[]
  readonly #random: SeededRandom
  /** Tries that got no answer, or were told to come again. */
  retryCount = 0
  /** Answers of 500 and more that are not 503: no failure of a part is one. */
  readonly serverErrors: string[] = []
  readonly #key: string | undefined
  #closed = false

  /** `key` is the API key that the nodes want. */
  constructor(urls: string[], dice: SeededRandom, key?: string) {
    this.#urls = urls
    this.#key = key
    this.#random = dice
  }

  /** The first response that is not lost and does not ask for a retry (429, 5xx, and a 409 with Retry-After). */
  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<TrainerResponse> {
    let last = 'nothing'
    for (const until = Date.now() + TOTAL_TIMEOUT_MS; Date.now() < until && !this.#closed; this.retryCount++) {
      const told = await this.#requestOnce(method, path, body, headers).catch((error: Error) => error)
      if (!(told instanceof Error) && !asksForRetry(told)) return told
      last =
        told instanceof Error ? `${told.message} ${String(told.cause)}` : `${told.status} ${JSON.stringify(told.body)}`
      const after = told instanceof Error ? 0 : Number(told.headers.get('retry-after') ?? 0) * 1000
      await sleep(Math.min(MAX_RETRY_DELAY_MS, Math.max(after, 100)) * this.#random.between(0.5, 1))
    }
    throw new Error(`${method} ${path} had no answer for ${TOTAL_TIMEOUT_MS / 1000} s; the last was ${last}`)
  }

  /** No call is made again after this. */
  close(): void {
    this.#closed = true
  }

  async #requestOnce(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<TrainerResponse> {
    const response = await fetch(this.#random.pick(this.#urls) + path, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(this.#key !== undefined && { authorization: `Bearer ${this.#key}` }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    })
    const text = await response.text()
    if (response.status >= 500 && response.status !== 503)
      this.serverErrors.push(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`)
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
  }
}

function asksForRetry({ status, headers }: TrainerResponse): boolean {
  return status === 429 || status >= 500 || (status === 409 && headers.has('retry-after'))
}
