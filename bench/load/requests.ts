/** What the load generator is told, and what it tells. */

export interface LoadRequest {
  method?: 'GET' | 'POST'
  path: string
  /** JSON. `NUMBER_MARK` in it is replaced by a number that no other request has. */
  body?: string
  headers?: Record<string, string>
  /** What the request counts for: its completions. */
  units?: number
  /** The right scores, in [0, 1], null for any, and the field of the answer that holds them; without a field the answer is the one score. */
  expect?: (number | null)[]
  field?: string
}

export interface LoadSpec {
  port: number
  /** A file with one ask a line. */
  asks: string
  connections: number
  /** What a connection waits between an answer and its next request, on average; 0: a closed loop. */
  pauseMs: number
  warmupS: number
  seconds: number
  /** So many requests in place of a time. */
  count?: number | undefined
  /** An open loop: each request of the file is sent once, at its time, and so many of them a second. */
  arrivalsPerSecond?: number | undefined
  timeoutS: number
  /** After so long, the load ends with what is answered. */
  limitS?: number | undefined
  firstNumber?: number | undefined
}

export interface LoadResult {
  seconds: number
  requests: number
  /** With those of the warm-up. */
  allRequests: number
  perSecond: number
  unitsPerSecond: number
  /** Milliseconds, in an open loop from the planned time of arrival; null without answers. */
  p50: number | null
  p99: number | null
  p999: number | null
  max: number | null
  checked: number
  wrong: number
  /** Of the checked responses: completions with the right score. */
  rightUnits: number
  errors: Record<string, number>
  /** Processor time of the load generator. */
  cpuSeconds: number
}

const NUMBER_DIGITS = 10
export const NUMBER_MARK = '#'.repeat(NUMBER_DIGITS)

export function padNumber(number: number): string {
  return String(number).padStart(NUMBER_DIGITS, '0')
}
