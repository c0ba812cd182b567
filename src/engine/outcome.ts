/** What becomes of one unit of work that a host was given: an item to make, an answer to score. */
import { ServiceError } from '../contract/errors.ts'

export type EngineOutcome =
  | { kind: 'value'; value: unknown }
  /** Refused: a code of the error table, a sentence, the field at fault. */
  | { kind: 'fault'; code: string; detail: string; path: string | null }
  /** The library's scorer raised on the answer. */
  | { kind: 'raised'; detail: string }
  /** No answer came, and this unit was the cause or the engine is down. */
  | { kind: 'lost'; reason: EngineLossReason; detail: string }

export type EngineLossReason = 'timeout' | 'crashed' | 'out_of_memory' | 'unavailable'

/** A host's message for one unit, as host.py writes it. */
export function parseOutcome(message: Record<string, unknown>): EngineOutcome {
  if ('fault' in message) {
    const { fault, detail, path } = message
    return { kind: 'fault', code: String(fault), detail: String(detail), path: typeof path === 'string' ? path : null }
  }
  if ('raised' in message) return { kind: 'raised', detail: String(message.raised) }
  if ('memory' in message) return { kind: 'lost', reason: 'out_of_memory', detail: 'the host reached its memory limit' }
  return { kind: 'value', value: message.value }
}

const CLIENT_ERROR_CODES = ['invalid_config', 'unknown_task', 'index_out_of_range'] as const

/** The value of an outcome, or the fault that the client meets. */
export function unwrapOutcome(outcome: EngineOutcome | undefined): unknown {
  switch (outcome?.kind) {
    case 'value':
      return outcome.value
    case 'fault': {
      const code = CLIENT_ERROR_CODES.find((known) => known === outcome.code) ?? 'invalid_config'
      const errors = outcome.path === null ? [] : [{ path: outcome.path, message: outcome.detail }]
      throw new ServiceError(code, outcome.detail, { errors })
    }
    case 'lost':
      if (outcome.reason === 'unavailable')
        throw new ServiceError('engine_unavailable', outcome.detail, { retryAfter: 2 })
      if (outcome.reason === 'out_of_memory') {
        throw new ServiceError('invalid_config', 'Making this item takes more memory than a host has')
      }
      throw new ServiceError('make_timeout', `The item could not be made: ${outcome.detail}`)
    default:
      throw new ServiceError('internal', outcome?.detail ?? 'no outcome')
  }
}
