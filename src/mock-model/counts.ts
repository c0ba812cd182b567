/** What the mock model was asked and what it gave: counts for tests and for the eye. */
export interface MockModelCounts {
  requests: number
  /** Completions given, by outcome. */
  right: number
  wrong: number
  truncated: number
  format_fault: number
  /** Requests that went wrong, by kind. */
  rejected: number
  rate_limited: number
  server_error: number
  broken_json: number
  closed: number
  slow: number
  /** Questions that the server did not know. */
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
