/** Calls the server during a soak. Each call has a kind, a timeout and expected statuses. */
import type { CallLog } from './call-log.ts'

const REQUEST_TIMEOUT_MS = 120_000
const RETRYABLE_CODES = ['items_not_ready', 'make_timeout', 'buffer_full']

export interface SoakCall {
  body?: unknown
  headers?: Record<string, string>
  /** Expected statuses in addition to 2xx, which the soak provokes. */
  expect?: readonly number[]
}

export interface SoakResponse {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: the answers of many routes; what is missing fails where it is read
  body: any
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

  /** Does not throw for any response. Logs an unexpected one and returns its body unchanged. */
  async call(kind: string, method: string, path: string, call: SoakCall = {}): Promise<SoakResponse> {
    const started = performance.now()
    const { response, text } = await this.#send(method, path, call).catch((cause: Error) => {
      throw new Error(`${kind}: ${cause.message}; ${JSON.stringify(call.body ?? '').slice(0, 200)}`, { cause })
    })
    this.log.addCall(kind, performance.now() - started)
    const { status, headers } = response
    if (!response.ok && !call.expect?.includes(status)) {
      if (asksForRetry(status, headers, text)) this.log.retryCount++
      else this.log.addUnexpected(kind, String(status), text)
    }
    return { status, headers, body: parseBody(text, headers) }
  }

  async #send(
    method: string,
    path: string,
    { body, headers }: SoakCall,
  ): Promise<{ response: Response; text: string }> {
    const response = await fetch(this.url + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    })
    return { response, text: await response.text() }
  }
}

/** Whether the response requests a retry as the contract allows. An unavailable Redis or engine is a failure of the soak. */
function asksForRetry(status: number, headers: Headers, text: string): boolean {
  const isRefused = (status === 429 || status === 503) && headers.has('retry-after')
  return isRefused && RETRYABLE_CODES.some((code) => text.includes(`"${code}"`))
}

/** Parses JSON. JSON Lines and pages remain text. */
function parseBody(text: string, headers: Headers): unknown {
  return /^application\/(problem\+)?json/.test(headers.get('content-type') ?? '') && text !== ''
    ? JSON.parse(text)
    : text
}
