/** What becomes of one unit of work that a host was given: an item to make, an answer to score. */
import { Fault } from '../faults.ts'

export type Outcome =
  | { kind: 'value'; value: unknown }
  /** Refused: a code of the error table, a sentence, the field at fault. */
  | { kind: 'fault'; code: string; detail: string; path: string | null }
  /** The library's scorer raised on the answer. */
  | { kind: 'raised'; detail: string }
  /** No answer came, and this unit was the cause or the engine is down. */
  | { kind: 'lost'; reason: Loss; detail: string }

export type Loss = 'timeout' | 'crashed' | 'out_of_memory' | 'unavailable'

/** A host's message for one unit, as host.py writes it. */
export function readOutcome(message: Record<string, unknown>): Outcome {
  if ('fault' in message) {
    const { fault, detail, path } = message
    return { kind: 'fault', code: String(fault), detail: String(detail), path: typeof path === 'string' ? path : null }
  }
  if ('raised' in message) return { kind: 'raised', detail: String(message.raised) }
  if ('memory' in message) return { kind: 'lost', reason: 'out_of_memory', detail: 'the host reached its memory limit' }
  return { kind: 'value', value: message.value }
}

const REFUSALS = ['invalid_config', 'unknown_task', 'index_out_of_range'] as const

/** The value of an outcome, or the fault that the client meets. */
export function unwrap(outcome: Outcome | undefined): unknown {
  switch (outcome?.kind) {
    case 'value':
      return outcome.value
    case 'fault': {
      const code = REFUSALS.find((known) => known === outcome.code) ?? 'invalid_config'
      const errors = outcome.path === null ? [] : [{ path: outcome.path, message: outcome.detail }]
      throw new Fault(code, outcome.detail, { errors })
    }
    case 'lost':
      if (outcome.reason === 'unavailable') throw new Fault('engine_unavailable', outcome.detail, { retryAfter: 2 })
      if (outcome.reason === 'out_of_memory') {
        throw new Fault('invalid_config', 'Making this item takes more memory than a host has')
      }
      throw new Fault('make_timeout', `The item could not be made: ${outcome.detail}`)
    default:
      throw new Fault('internal', outcome?.detail ?? 'no outcome')
  }
}
