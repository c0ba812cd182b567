/** The frames of OpenEnv's WebSocket: client frames, server frames and error codes. */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { z } from 'zod'
import { parseJsonBytes } from '../../../http/bodies/json-body-parser.ts'
import { formatFieldErrors } from '../../../http/errors/field-errors.ts'
import { formatFloat } from '../float-json.ts'

/** Ignores unknown keys everywhere, because clients add some between versions. */
const Data = z.record(z.string(), z.unknown())
const ClientFrame = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('reset'), data: Data.nullish().transform((data) => data ?? {}) }),
  z.looseObject({ type: z.literal('step'), data: Data }),
  z.looseObject({ type: z.literal('state') }),
  z.looseObject({ type: z.literal('close') }),
  z.looseObject({ type: z.literal('mcp'), data: z.unknown() }),
])
export type ClientFrame = z.infer<typeof ClientFrame>
const FRAME_TYPES: readonly unknown[] = ['reset', 'step', 'state', 'close', 'mcp']

export type FrameErrorCode =
  | 'INVALID_JSON'
  | 'UNKNOWN_TYPE'
  | 'VALIDATION_ERROR'
  | 'EXECUTION_ERROR'
  | 'CAPACITY_REACHED'
  | 'SESSION_ERROR'

export interface FrameError {
  message: string
  code: FrameErrorCode
  /** Reason why a completion has no score. */
  unscored?: string
  [detail: string]: unknown
}

/** An observation on the wire: without a reward after a reset, with one after a step. */
export interface ObservationData {
  observation: { question: string }
  reward: number | null
  done: boolean
  metadata: Record<string, unknown>
}

export type ServerFrame =
  | { type: 'observation'; data: ObservationData }
  | { type: 'state'; data: { episode_id: string | null; step_count: number } }
  | { type: 'mcp'; data: unknown }
  | { type: 'error'; data: FrameError }

/** A frame error with one of OpenEnv's error codes. */
export class FrameRejection extends Error {
  readonly data: FrameError

  constructor(code: FrameErrorCode, message: string, details: Record<string, unknown> = {}) {
    super(message)
    this.data = { message, code, ...details }
  }
}

/** Throws FrameRejection. */
export function parseFrame(bytes: Buffer): ClientFrame {
  const value = parseJson(bytes)
  const type: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'type') : undefined
  if (!FRAME_TYPES.includes(type))
    throw new FrameRejection('UNKNOWN_TYPE', `Unknown message type: ${JSON.stringify(type ?? null).slice(0, 100)}`)
  const parsed = ClientFrame.safeParse(value)
  if (parsed.success) return parsed.data
  throw rejectFields(parsed.error, 'Invalid message')
}

/** Creates the rejection that names each field that cannot be read. */
export function rejectFields(error: z.ZodError, what: string): FrameRejection {
  const errors = error.issues.flatMap((issue) => formatFieldErrors(issue, 'data'))
  const [first] = errors
  const message = first ? `${what}: ${first.path}: ${first.message}` : what
  return new FrameRejection('VALIDATION_ERROR', message, { errors })
}

function parseJson(bytes: Buffer): unknown {
  try {
    return parseJsonBytes(bytes)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const code = error.code === 'invalid_json' ? 'INVALID_JSON' : 'VALIDATION_ERROR'
    throw new FrameRejection(code, `Invalid JSON: ${error.message}`)
  }
}

/** Writes reward and score so that every reader parses them as floats (float-json.ts). */
export function formatObservation({ observation, reward, done, metadata }: ObservationData): string {
  const { score, ...others } = metadata
  const scored = typeof score === 'number' ? `"score":${formatFloat(score)},` : ''
  const value = reward === null ? 'null' : formatFloat(reward)
  const rest = `"done":${done},"metadata":{${scored}${JSON.stringify(others).slice(1)}`
  return `{"observation":${JSON.stringify(observation)},"reward":${value},${rest}}`
}

export function formatFrame(frame: ServerFrame): string {
  if (frame.type !== 'observation') return JSON.stringify(frame)
  return `{"type":"observation","data":${formatObservation(frame.data)}}`
}
