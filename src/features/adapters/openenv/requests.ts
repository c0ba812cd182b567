/**
 * What OpenEnv clients send: a reset names an item in one of several ways, or not at all; an action has the model's
 * output, for which clients use several names.
 */

import { ItemId } from '@reasoning-gym-server/contract/item-id'
import { Config, Difficulty, RecipeInput, TaskName } from '@reasoning-gym-server/contract/recipe'
import type { Message } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import type { Submission } from '../../../grading/grader.ts'
import { FrameRejection, rejectFields } from './wire.ts'

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
  | { kind: 'series'; series: ItemSeries }
  | { kind: 'seed'; seed: number }
  | { kind: 'next' }

interface ResetRequest {
  target: ResetTarget
  episodeId: string | undefined
}

/** Throws FrameRejection. */
export function parseReset(data: Record<string, unknown>): ResetRequest {
  const parsed = ResetFields.safeParse(data)
  if (!parsed.success) throw rejectFields(parsed.error, 'The reset cannot be read')
  return { target: readTarget(parsed.data), episodeId: parsed.data.episode_id ?? undefined }
}

function readTarget(fields: z.infer<typeof ResetFields>): ResetTarget {
  const { item_id, position, seed } = fields
  const task = fields.task ?? fields.dataset_name ?? undefined
  const given = [item_id, position, task].filter((one) => one !== undefined && one !== null)
  if (given.length > 1)
    throw new FrameRejection('VALIDATION_ERROR', 'Give only one of item_id, position and task: each names an item')
  if (typeof item_id === 'string') return { kind: 'item', itemId: item_id }
  if (typeof position === 'number') return { kind: 'position', position }
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

interface ReadAction {
  submission: Submission
  tokens: number | undefined
  finishReason: string | undefined
}

/**
 * Throws FrameRejection if the action has none of the fields, so that a client with another field name learns of it.
 */
export function readAction(data: Record<string, unknown>): ReadAction {
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
