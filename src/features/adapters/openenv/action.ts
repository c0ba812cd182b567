/** Reads the model's output from an OpenEnv action. Clients use several names for the field. */
import type { Message } from '@reasoning-gym-server/contract/rollout'
import type { Submission } from '../../../grading/grader.ts'
import { FrameRejection } from './frames.ts'

/** Fields that hold a whole reply, read with the extraction of the run, in order of precedence. */
const REPLY_FIELDS = ['completion', 'message', 'messages', 'text', 'content'] as const
/** Field that holds only the answer, taken literally. */
const ANSWER_FIELD = 'answer'
const ACTION_FIELDS: readonly string[] = [...REPLY_FIELDS, ANSWER_FIELD]

export interface ReadAction {
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
