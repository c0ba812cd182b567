/** The outcome of one unit of work in a Python worker: an item to make or an answer to score. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'

export type EngineOutcome =
  | { kind: 'value'; value: unknown }
  /** The same request would fail again: an error code, a sentence, and the field that it is about. */
  | { kind: 'fault'; code: string; detail: string; path: string | null }
  /** The library's scorer raised on the answer. */
  | { kind: 'raised'; detail: string }
  /** No result came: this unit of work was the cause, or the engine is down. */
  | { kind: 'lost'; reason: EngineLossReason; detail: string }

export type EngineLossReason = 'timeout' | 'crashed' | 'out_of_memory' | 'unavailable'

/** Parses a worker's message for one unit of work, as worker.py writes it. */
export function parseOutcome(message: Record<string, unknown>): EngineOutcome {
  if ('error' in message) {
    const { error, detail, path } = message
    return { kind: 'fault', code: String(error), detail: String(detail), path: typeof path === 'string' ? path : null }
  }
  if ('raised' in message) return { kind: 'raised', detail: String(message.raised) }
  if ('out_of_memory' in message)
    return { kind: 'lost', reason: 'out_of_memory', detail: 'the worker reached its memory limit' }
  return { kind: 'value', value: message.value }
}

const FAULT_CODES = [
  'invalid_config',
  'unknown_task',
  'index_out_of_range',
  'make_failed',
  'engine_version_mismatch',
] as const

/** The value of an outcome. Throws the error that the client gets. */
export function unwrapOutcome(outcome: EngineOutcome | undefined): unknown {
  switch (outcome?.kind) {
    case 'value':
      return outcome.value
    case 'fault': {
      const code = FAULT_CODES.find((known) => known === outcome.code) ?? 'internal'
      const errors = outcome.path === null ? [] : [{ path: outcome.path, message: outcome.detail }]
      throw new ServiceError(code, outcome.detail, { errors })
    }
    case 'lost':
      if (outcome.reason === 'unavailable') throw new ServiceError('engine_unavailable', outcome.detail)
      if (outcome.reason === 'out_of_memory') {
        throw new ServiceError(
          'make_out_of_memory',
          'Making this item exceeds the memory limit of a Python worker. Use a smaller config, or raise the limit.',
        )
      }
      throw new ServiceError('make_timeout', `The item could not be made: ${outcome.detail}`)
    default:
      throw new ServiceError('internal', outcome?.detail ?? 'no outcome')
  }
}
