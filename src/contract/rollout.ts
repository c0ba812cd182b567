/** One completion for an item, and the group of them that is scored together. */
import { z } from 'zod'
import {
  BASE64_ARRAY_SCHEMA,
  type Base64Array,
  countNumbers,
  DTYPE_BYTES,
  detachNumbers,
  getOrDecodeBytes,
  isBase64Array,
  isFiniteNumberList,
  isNumberList,
  isSafeNumberList,
  looksLikeBase64Array,
  type NumberList,
  viewAsNumbers,
} from '../codec/typed-arrays.ts'
import { ItemId } from './item-id.ts'
import { GroupVerdict } from './verdict.ts'

export const RunName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'a run name: [a-z0-9][a-z0-9._-]{0,62}')
/** Not `.` or `..`: in an address they are the folder, and the one above it, however they are written. */
export const GroupId = z
  .string()
  .regex(/^(?!\.{1,2}$)[\w.-]{1,128}$/, 'a group id: up to 128 letters, digits, dots, dashes, underscores; not . or ..')

/** A chat message; keys that we do not read (tool calls, names) are kept as sent. */
export const Message = z
  .looseObject({
    role: z.string(),
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string() })), z.null()]).optional(),
  })
  .meta({ id: 'Message' })
export type Message = z.infer<typeof Message>

const BASE64_ARRAY_DESCRIPTION = `{ dtype, data } with dtype one of ${Object.keys(DTYPE_BYTES).join(', ')} and data in base64, no number cut off`

/** Numbers as JSON, or typed. Checked by hand: zod takes long over arrays of 30,000 numbers. */
const numberListSchema = (list: string, isOne: (value: unknown) => value is NumberList, type: string | string[]) =>
  z
    .custom<NumberList | Base64Array>(
      (value) => isOne(value) || isBase64Array(value),
      `${list}, or ${BASE64_ARRAY_DESCRIPTION}`,
    )
    .meta({ anyOf: [{ type: 'array', items: { type } }, BASE64_ARRAY_SCHEMA] })

export const Tokens = numberListSchema('a list of numbers within ±(2^53 - 1)', isSafeNumberList, 'number')
export type Tokens = z.infer<typeof Tokens>

export const Rollout = z
  .strictObject({
    completion: z.string().optional(),
    messages: z.array(Message).min(1).optional(),
    tokens: Tokens.optional(),
    masks: Tokens.optional().describe('−100: not trained'),
    logprobs: numberListSchema('a list of finite numbers and nulls', isFiniteNumberList, ['number', 'null']).optional(),
    policy_version: z
      .int()
      .min(0)
      .optional()
      .describe('Version of the policy that made this rollout; the group’s if not given'),
    finish_reason: z
      .string()
      .max(64)
      .nullish()
      .describe('`length`: cut by the limit; `abort`, `error`: no completion came'),
    length_tokens: z.int().min(0).optional(),
    arrays: z
      .record(
        z.string(),
        z.unknown().refine((value) => !looksLikeBase64Array(value) || isBase64Array(value), BASE64_ARRAY_DESCRIPTION),
      )
      .optional()
      .describe('Carried unread; typed data, as of `tokens`, comes back bit for bit with `?arrays=base64`'),
    extra: z.unknown().optional().describe('Carried unread'),
  })
  .superRefine((rollout, context) => {
    if ((rollout.completion === undefined) === (rollout.messages === undefined)) {
      context.addIssue({ code: 'custom', path: ['completion'], message: 'give either completion or messages' })
    }
    const lengths = [rollout.tokens, rollout.masks, rollout.logprobs].filter((x) => x !== undefined).map(countNumbers)
    if (new Set(lengths).size > 1) {
      context.addIssue({
        code: 'custom',
        path: ['tokens'],
        message: `tokens, masks and logprobs differ in length: ${lengths.join(', ')}`,
      })
    }
  })
  .meta({ id: 'Rollout' })
export type Rollout = z.infer<typeof Rollout>

/** How many positions of a mask are trained. */
export function countTrainedTokens(masks: Tokens): number {
  let trained = 0
  const values = isNumberList(masks) ? masks : viewAsNumbers(masks.dtype, getOrDecodeBytes(masks))
  const { length } = values // looked up each time it would take longer than the comparison
  for (let k = 0; k < length; k++) if (values[k] !== -100) trained++
  return trained
}

/** Gives the memory of a rollout's tokens, masks and log-probabilities back once they are stored; they are empty then. */
export function detachTokenLists({ tokens, masks, logprobs }: Rollout): void {
  for (const numbers of [tokens, masks, logprobs]) if (numbers) detachNumbers(numbers)
}

/** A group as a client posts it. */
export const GroupSubmission = z
  .strictObject({
    item_id: ItemId,
    group_id: GroupId.optional().describe('Unique in the run; without it the id comes from the content'),
    policy_version: z
      .int()
      .min(0)
      .optional()
      .describe('Version of the rollouts that name none. The version of the group is the smallest of its rollouts'),
    buffer: z.boolean().optional().describe('false: score it, but keep it out of the batches'),
    extra: z.unknown().optional(),
    rollouts: z.array(Rollout).min(1).max(1024),
  })
  .meta({ id: 'GroupSubmission' })
export type GroupSubmission = z.infer<typeof GroupSubmission>

export const Destination = z
  .enum(['buffered', 'not_buffered', 'no_signal', 'stale', 'skipped'])
  .meta({ id: 'Destination' })
export type Destination = z.infer<typeof Destination>

/** A group as it stands: queued, scored, or failed. */
export const Group = z
  .strictObject({
    group_id: GroupId,
    run: RunName,
    item_id: ItemId,
    task: z.string(),
    difficulty: z.number().nullable(),
    status: z.enum(['queued', 'scored', 'failed']),
    verdicts: z.array(GroupVerdict).optional().describe('Of the last `keep_groups` groups of the run'),
    rewards: z
      .array(z.number().nullable())
      .optional()
      .describe(
        'What to train on, in the order of the rollouts; null: unscored. Also in the answer to a repeated post whose verdicts are no longer kept',
      ),
    mean_score: z.number().nullable().optional().describe('Over the scored rollouts that are not skipped'),
    mean_reward: z.number().nullable().optional().describe('Over the voters'),
    std_reward: z.number().nullable().optional().describe('Population standard deviation over the voters'),
    percent_correct: z
      .number()
      .nullable()
      .optional()
      .describe('Share, in [0, 1], of the rollouts behind `mean_score` that have a score of at least 0.5'),
    voters: z.int().optional().describe('Rollouts with a score that are neither skipped nor masked'),
    lengths: z.enum(['all', 'some', 'none']).optional().describe('Whether all rollouts have a length in tokens'),
    length_penalty: z.boolean().optional().describe('Whether a reward was lowered for its length'),
    signal: z
      .boolean()
      .optional()
      .describe(
        'Whether the voters differ; true for a group posted with one rollout, false if one voter is left of more',
      ),
    destination: Destination.nullable(),
    code: z.string().optional(),
    detail: z.string().optional(),
  })
  .meta({ id: 'Group' })
export type Group = z.infer<typeof Group>
