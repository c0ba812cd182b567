/** Reads a sample from what NeMo Gym posts to /verify: the item ID from the row, the text from a Responses object. */
import type { NemoGymVerifyRequest } from '@reasoning-gym-server/contract/nemo-gym'
import type { Submission } from '../../../grading/grader.ts'
import type { Sample } from '../sample-scoring.ts'

type Fields = Record<string, unknown>

/** Fields in which rows keep what their verifier needs. */
const ROW_FIELDS = ['task_data', 'task_input', 'verifier_metadata', 'metadata', 'verification_input'] as const

export function readItemId(body: NemoGymVerifyRequest): unknown {
  const row = [body, ...ROW_FIELDS.map((name) => body[name])].find(
    (fields) => isObject(fields) && fields.item_id !== undefined && fields.item_id !== null,
  )
  if (isObject(row)) return row.item_id
  return isObject(body.task_id) ? body.task_id.task_id : undefined
}

export function readSample(body: NemoGymVerifyRequest, itemId: string | undefined): Sample {
  const { verification_input: input } = body
  const response = body.response ?? (isObject(input) ? input.response : undefined)
  if (!isObject(response) || !Array.isArray(response.output))
    return { itemId, submission: { kind: 'nothing', detail: 'response has no output' } }
  return {
    itemId,
    submission: readSubmission(response.output.filter(isObject)),
    rolloutKey: readRolloutKey(body),
    tokens: readTokens(response.usage),
    finishReason: isTruncated(response) ? 'length' : undefined,
  }
}

/** Joins the messages after the last tool call into one turn; text before a tool call is not an answer. */
function readSubmission(output: Fields[]): Submission {
  const lastCall = output.findLastIndex(({ type }) => typeof type === 'string' && /_call(_output)?$/.test(type))
  const turn = output.slice(lastCall + 1)
  const completion = turn
    .map((item) => (item.type === 'message' ? joinParts(item.content, 'output_text') : ''))
    .join('')
  const reasoning = turn.map((item) => (item.type === 'reasoning' ? joinReasoning(item) : '')).join('')
  if (reasoning === '') return { kind: 'completion', completion }
  return { kind: 'messages', messages: [{ role: 'assistant', content: completion, reasoning_content: reasoning }] }
}

function joinReasoning({ content, summary }: Fields): string {
  return joinParts(content, 'reasoning_text') || joinParts(summary, 'summary_text')
}

function joinParts(content: unknown, type: string): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: unknown) => (isObject(part) && part.type === type && typeof part.text === 'string' ? part.text : ''))
    .join('')
}

/** Returns the key of one attempt, because a repeated attempt has its own response. */
function readRolloutKey({ episode_id, _ng_rollout_id: rolloutId }: NemoGymVerifyRequest): string | undefined {
  if (!isObject(episode_id)) return typeof rolloutId === 'string' ? rolloutId : undefined
  const { rollout_id: id, attempt } = episode_id
  return typeof id === 'string' ? `${id}-a${typeof attempt === 'number' ? attempt : 0}` : undefined
}

function readTokens(usage: unknown): number | undefined {
  if (!isObject(usage)) return undefined
  const { output_tokens: tokens } = usage
  return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined
}

function isTruncated({ incomplete_details: details }: Fields): boolean {
  return isObject(details) && details.reason === 'max_output_tokens'
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
