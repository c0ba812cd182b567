/** Counts of the requests and responses of the mock model, for tests and for `GET /counts`. */
export interface MockModelCounts {
  requests: number
  /** Number of completions by outcome. */
  right: number
  wrong: number
  truncated: number
  format_fault: number
  /** Number of failed requests by kind. */
  rejected: number
  rate_limited: number
  server_error: number
  broken_json: number
  closed: number
  slow: number
  /** Number of questions that the server did not recognize. */
  unknown: number
}

export function createMockModelCounts(): MockModelCounts {
  return {
    requests: 0,
    right: 0,
    wrong: 0,
    truncated: 0,
    format_fault: 0,
    rejected: 0,
    rate_limited: 0,
    server_error: 0,
    broken_json: 0,
    closed: 0,
    slow: 0,
    unknown: 0,
  }
}
