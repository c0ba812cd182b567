/**
 * What OpenEnv's clients send and get: the frames of the WebSocket, resets and actions. A reset names an item in one of
 * several ways, or not at all; an action has the model's output, for which clients use several names.
 */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { ItemId } from '@reasoning-gym-server/contract/item-id'
import { Config, Difficulty, RecipeInput, TaskName } from '@reasoning-gym-server/contract/recipe'
import type { Message } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import type { Submission } from '../../../grading/submission.ts'
import { parseJsonBytes } from '../../../http/bodies/json-body-parser.ts'
import { formatFieldErrors } from '../../../http/errors/field-errors.ts'
import { formatFloat } from '../trainer-calls.ts'

/** Ignores unknown keys everywhere, because clients add some between versions. */
const Data = z.record(z.string(), z.unknown())
const ClientFrame = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('reset'), data: Data.nullish().transform((data) => data ?? {}) }),
  z.looseObject({ type: z.literal('step'), data: Data }),
  z.looseObject({ type: z.literal('state') }),
  z.looseObject({ type: z.literal('close') }),
])
export type ClientFrame = z.infer<typeof ClientFrame>
const FRAME_TYPES: readonly unknown[] = ['reset', 'step', 'state', 'close']

type FrameErrorCode =
  | 'INVALID_JSON'
  | 'UNKNOWN_TYPE'
  | 'VALIDATION_ERROR'
  | 'EXECUTION_ERROR'
  | 'CAPACITY_REACHED'
  | 'SESSION_ERROR'

interface FrameError {
  message: string
  code: FrameErrorCode
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

function rejectFields(error: z.ZodError, what: string): FrameRejection {
  const errors = formatFieldErrors(error.issues, 'data')
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

/** Writes reward and score so that every reader parses them as floats (trainer-calls.ts). */
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

/** Same length limit as OpenEnv's own episode ID. */
export const EpisodeId = z.string().min(1).max(255)
const Index = RecipeInput.shape.index.removeDefault()

const ResetFields = z.looseObject({
  item_id: ItemId.nullish(),
  position: z.int().min(0).nullish(),
  task: TaskName.nullish(),
  difficulty: Difficulty.nullish(),
  config: Config.nullish(),
  seed: RecipeInput.shape.seed.removeDefault().nullish(),
  index: Index.nullish(),
  split: z.string().max(200).nullish(),
  episode_id: EpisodeId.nullish(),
  // These names come from OpenEnv's own environment for the same library.
  dataset_name: TaskName.nullish(),
  dataset_config: Config.nullish(),
  size: z.int().min(1).nullish(),
})

/** Items of one recipe that differ only in their index. A reset without arguments returns the next one. */
export interface ItemSeries {
  recipe: RecipeInput
  size: number | undefined
}

export type ResetTarget =
  | { kind: 'item'; itemId: string }
  | { kind: 'position'; position: number }
  | { kind: 'split'; split: string; index: number }
  | { kind: 'series'; series: ItemSeries }
  | { kind: 'seed'; seed: number }
  | { kind: 'next' }

/** Throws FrameRejection. */
export function parseReset(data: Record<string, unknown>) {
  const parsed = ResetFields.safeParse(data)
  if (!parsed.success) throw rejectFields(parsed.error, 'The reset cannot be read')
  return { target: readTarget(parsed.data), episodeId: parsed.data.episode_id ?? undefined }
}

function readTarget(fields: z.infer<typeof ResetFields>): ResetTarget {
  const { item_id, position, split, index, seed } = fields
  const task = fields.task ?? fields.dataset_name ?? undefined
  const given = [item_id, position, split, task].filter((one) => one !== undefined && one !== null)
  if (given.length > 1)
    throw new FrameRejection(
      'VALIDATION_ERROR',
      'Give only one of item_id, position, split and task: each names an item',
    )
  if (typeof item_id === 'string') return { kind: 'item', itemId: item_id }
  if (typeof position === 'number') return { kind: 'position', position }
  if (typeof split === 'string') {
    if (typeof index === 'number') return { kind: 'split', split, index }
    throw new FrameRejection('VALIDATION_ERROR', 'A split needs the index of a task')
  }
  if (task !== undefined) return { kind: 'series', series: readSeries(task, fields) }
  if (fields.difficulty !== undefined && fields.difficulty !== null)
    throw new FrameRejection('VALIDATION_ERROR', 'difficulty needs a task; a run sets its own difficulty')
  return typeof seed === 'number' ? { kind: 'seed', seed } : { kind: 'next' }
}

function readSeries(task: string, fields: z.infer<typeof ResetFields>): ItemSeries {
  const config = fields.config ?? fields.dataset_config ?? undefined
  if (task === 'composite')
    throw new FrameRejection(
      'VALIDATION_ERROR',
      'A mix of tasks is a run here: create one with tasks and weights, and connect to /openenv/{run}',
    )
  const { difficulty } = fields
  return {
    recipe: {
      task,
      seed: fields.seed ?? 0,
      index: fields.index ?? 0,
      ...(config && Object.keys(config).length > 0 && { config }),
      ...(typeof difficulty === 'number' && { difficulty }),
    },
    size: fields.size ?? undefined,
  }
}

/** Fields that hold a whole reply, read with the extraction of the run, in order of precedence. */
const REPLY_FIELDS = ['completion', 'message', 'messages', 'text', 'content'] as const
/** Field that holds only the answer, taken literally. */
const ANSWER_FIELD = 'answer'
const ACTION_FIELDS: readonly string[] = [...REPLY_FIELDS, ANSWER_FIELD]

/**
 * Throws FrameRejection if the action has none of the fields, so that a client with another field name learns of it.
 */
export function readAction(data: Record<string, unknown>) {
  const { completion_tokens: tokens, finish_reason: finishReason } = data
  return {
    submission: readSubmission(data),
    tokens: typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined,
    finishReason: typeof finishReason === 'string' ? finishReason : undefined,
  }
}

function readSubmission(data: Record<string, unknown>): Submission {
  const field = REPLY_FIELDS.find((name) => data[name] !== undefined)
  if (field !== undefined) return readReply(data[field])
  const answer = data[ANSWER_FIELD]
  if (answer === null) return { kind: 'completion', completion: '' } // the model gave no answer
  if (answer !== undefined) return { kind: 'answer', answer: formatValue(answer) }
  throw new FrameRejection(
    'VALIDATION_ERROR',
    `The action has none of the fields ${ACTION_FIELDS.join(', ')}: send the model's reply as completion`,
  )
}

/** Accepts any JSON value, because some clients parse the model's reply as JSON and send numbers, lists or objects. */
function readReply(value: unknown): Submission {
  if (isMessage(value)) return { kind: 'messages', messages: [value] }
  if (Array.isArray(value) && value.length > 0 && value.every(isMessage)) return { kind: 'messages', messages: value }
  if (isPartList(value)) return { kind: 'messages', messages: [{ role: 'assistant', content: value }] }
  return { kind: 'completion', completion: value === null ? '' : formatValue(value) }
}

function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { role, content } = value as { role?: unknown; content?: unknown } // the next line checks it
  return typeof role === 'string' && (content === undefined || content === null || isText(content))
}

function isText(content: unknown): boolean {
  return typeof content === 'string' || isPartList(content)
}

/** Content of a message: `[{ "type": "text", "text": … }]`. */
function isPartList(value: unknown): value is { type: string }[] {
  if (!Array.isArray(value) || value.length === 0) return false
  return value.every((part: unknown) => {
    return typeof part === 'object' && part !== null && typeof Reflect.get(part, 'type') === 'string'
  })
}

/** Formats JSON with a space after commas and colons, as models and the library write lists. */
function formatValue(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return `[${value.map(formatElement).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, element]) => `${JSON.stringify(key)}: ${formatElement(element)}`)
  return `{${entries.join(', ')}}`
}

function formatElement(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : formatValue(value)
}
