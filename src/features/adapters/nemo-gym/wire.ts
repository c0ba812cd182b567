/**
 * NeMo Gym: POST /nemo-gym[/{run}]/verify. The item ID is in the row, the text in a Responses object; the response is
 * the request with the verdict.
 */
import {
  NemoGymVerdict,
  NemoGymVerifyRequest,
  parsePlainNemoGymVerifyRequest,
} from '@reasoning-gym-server/contract/reward-wires'
import type { Submission } from '../../../grading/submission.ts'
import { toTurnText } from '../../../grading/tries.ts'
import { withFastParser } from '../../../http/validation.ts'
import { CORRECT_COMPLETION, EXAMPLE_ITEM_ID, EXAMPLE_QUESTION } from '../../items/example-item.ts'
import { listMounts } from '../mounts.ts'
import { NoQuery, type RewardedSample, type RewardWire, type SentSample } from '../reward-route.ts'

/** Failure kinds. Names outside Gym's vocabulary (`nemo_gym/failure_kinds.py`) have the environment's prefix. */
const FAILURE_PREFIX = 'reasoning_gym:'

const EXAMPLE = {
  item_id: EXAMPLE_ITEM_ID,
  responses_create_params: { input: [{ role: 'user', content: EXAMPLE_QUESTION }] },
  response: {
    output: [{ type: 'message', content: [{ type: 'output_text', text: CORRECT_COMPLETION }] }],
    usage: { output_tokens: 42 },
  },
}

export const nemoGymWire: RewardWire<NemoGymVerifyRequest, object> = {
  adapter: 'nemo-gym',
  client: {
    kind: 'foreign',
    hint: 'item_id: the row has none; make rows by GET /dataset.jsonl?format=nemo-gym',
  },
  mounts: listMounts('nemo-gym'),
  path: '/verify',
  operationId: 'verifyNemoGymSample',
  summary: 'Score a completion for NeMo Gym and verifiers',
  body: withFastParser(NemoGymVerifyRequest, parsePlainNemoGymVerifyRequest),
  query: NoQuery,
  response: NemoGymVerdict,
  examples: { bodies: { 'A row and a response': EXAMPLE } },
  retryWindowMs: 25_000, // verifiers waits 60 s; NeMo Gym forever
  getOptions: () => ({ siblingWindowMs: 25_000 }), // for clients that read only the reward
  read: (body) => [{ label: readItemId(body), ...readSample(body) }],
  write([result], { body = UNREAD_BODY }) {
    if (!result) throw new Error('the scoring of one sample returned none')
    return JSON.stringify(buildVerifyResponse(body, result))
  },
}

/** A body that was too large to read has nothing to echo. */
const UNREAD_BODY: NemoGymVerifyRequest = { responses_create_params: { input: [] }, response: null }

type Fields = Record<string, unknown>

/** Fields in which rows keep what their verifier needs. */
const ROW_FIELDS = ['task_data', 'task_input', 'verifier_metadata', 'metadata', 'verification_input'] as const

function readItemId(body: NemoGymVerifyRequest): unknown {
  const row = [body, ...ROW_FIELDS.map((name) => body[name])].find(
    (fields) => isObject(fields) && fields.item_id !== undefined && fields.item_id !== null,
  )
  if (isObject(row)) return row.item_id
  return isObject(body.task_id) ? body.task_id.task_id : undefined
}

function readSample(body: NemoGymVerifyRequest): Omit<SentSample, 'label'> {
  const { verification_input: input } = body
  const response = body.response ?? (isObject(input) ? input.response : undefined)
  if (!isObject(response) || !Array.isArray(response.output))
    return { submission: { kind: 'nothing', detail: 'response has no output' } }
  return {
    submission: readSubmission(response.output.filter(isObject)),
    rolloutKey: readRolloutKey(body),
    tokens: readTokens(response.usage),
    finishReason: isTruncated(response) ? 'length' : undefined,
  }
}

/** Text before a tool call is not an answer. Messages of the user separate the tries of a run that allows several. */
function readSubmission(output: Fields[]): Submission {
  const lastCall = output.findLastIndex(({ type }) => typeof type === 'string' && /_call(_output)?$/.test(type))
  const turns: Fields[][] = [[]]
  for (const item of output.slice(lastCall + 1)) {
    if (item.role === 'user') turns.push([])
    else turns.at(-1)?.push(item)
  }
  const [first = []] = turns
  if (turns.length === 1) return readTurn(first)
  return { kind: 'turns', turns: turns.map((turn) => toTurnText(readTurn(turn), 'strict')) }
}

/** Joins the messages of a turn. */
function readTurn(turn: Fields[]): Submission {
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

function buildVerifyResponse(body: NemoGymVerifyRequest, result: RewardedSample): NemoGymVerdict {
  return { ...body, ...buildVerdictFields(result), instance_config: buildInstanceConfig(body, result) }
}

function buildVerdictFields({ verdict, recipe, reward }: RewardedSample) {
  const unscored = verdict.status === 'unscored'
  const feedback = unscored ? undefined : verdict.feedback
  return {
    reward,
    score: verdict.score,
    penalty: unscored ? null : verdict.penalty,
    task_name: recipe?.task ?? null,
    extracted_answer: unscored ? null : verdict.answer,
    fault: unscored ? null : verdict.fault,
    mask_sample: unscored,
    failure_kind: unscored ? FAILURE_PREFIX + verdict.code : null,
    failure_reason: unscored ? verdict.detail : null,
    ...(feedback && { feedback }),
  }
}

/** Sets the field from which NeMo RL reads the mask until it supports a field of its own. */
function buildInstanceConfig({ instance_config: given }: NemoGymVerifyRequest, { verdict }: RewardedSample) {
  return { ...(isObject(given) && given), mask_sample: verdict.status === 'unscored' }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
