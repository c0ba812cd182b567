/** A rollout, and the group of rollouts of one item that are scored together. */

import {
  BASE64_ARRAY_SCHEMA,
  type Base64Array,
  countNumbers,
  DTYPE_ARRAYS,
  detachNumbers,
  getOrDecodeBytes,
  isBase64Array,
  isFiniteNumberList,
  isNumberList,
  isSafeNumberList,
  looksLikeBase64Array,
  type NumberList,
  viewAsNumbers,
} from '@reasoning-gym-server/codec/typed-arrays'
import { z } from 'zod'
import { Count, FinishReason, NullableNumber } from './common.ts'
import { ItemId } from './item-id.ts'
import { GroupVerdict, MAX_TRIES } from './verdict.ts'

/** The only run that a call for items or with groups creates. */
export const DEFAULT_RUN = 'default'

export const RunName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'must be a run name: [a-z0-9][a-z0-9._-]{0,62}')
  .meta({ id: 'RunName', description: 'Name of the run.', examples: ['demo'] })
/** Not `.` or `..`: in a URL path they mean the current and the parent folder, however they are encoded. */
export const GroupId = z
  .string()
  .regex(
    /^(?!\.{1,2}$)[\w.-]{1,128}$/,
    'must be a group ID: up to 128 letters, digits, dots, dashes and underscores, but not . or ..',
  )
  .meta({ id: 'GroupId', description: 'ID of a group, unique in its run.', examples: ['group-1'] })

/** Begins the IDs of groups that the server gathers from single samples. */
export const OPEN_GROUP_ID_PREFIX = 'open-'

const PostedGroupId = z
  .string()
  .regex(
    /^(?!\.{1,2}$|open-)[\w.-]{1,128}$/,
    'must be a group ID: up to 128 letters, digits, dots, dashes and underscores, but not . or .., and not beginning with open-, which marks groups that the server gathers',
  )

export const Message = z
  .looseObject({
    role: z.string().describe('Role of the author, such as `assistant`.'),
    content: z
      .union([
        z.string(),
        z.array(
          z
            .looseObject({ type: z.string().describe('Type of the part, such as `text`.') })
            .meta({ id: 'MessagePart', description: 'Part of a message.' }),
        ),
        z.null(),
      ])
      .optional()
      .describe('Text of the message, or its parts.'),
  })
  .meta({ id: 'Message', description: 'A chat message. Other keys, such as tool calls, are stored as sent.' })
export type Message = z.infer<typeof Message>

/** The feedback between two turns is the server's. */
export const Turns = z.array(z.string()).min(1).max(MAX_TRIES).meta({
  id: 'Turns',
  description:
    'Texts of the model’s turns, in place of `completion`: its first answer, and its answers to the feedback on the ones before.',
})

const BASE64_ARRAY_DESCRIPTION = `{ dtype, data } with dtype one of ${Object.keys(DTYPE_ARRAYS).join(', ')} and data in base64, as a whole number of values`

/** Numbers as a JSON array, or as typed data. Validated by hand, because zod is slow for arrays of 30,000 numbers. */
const numberListSchema = (list: string, isOne: (value: unknown) => value is NumberList, type: string | string[]) =>
  z
    .custom<NumberList | Base64Array>(
      (value) => isOne(value) || isBase64Array(value),
      `must be ${list}, or ${BASE64_ARRAY_DESCRIPTION}`,
    )
    .meta({ anyOf: [{ type: 'array', items: { type } }, BASE64_ARRAY_SCHEMA] })

export const Tokens = numberListSchema('a list of numbers within ±(2^53 - 1)', isSafeNumberList, 'number')
export type Tokens = z.infer<typeof Tokens>

export const Rollout = z
  .strictObject({
    completion: z.string().optional().describe('Text that the model generated. Give this, `messages` or `turns`.'),
    messages: z.array(Message).min(1).optional().describe('Completion as chat messages, in place of `completion`.'),
    turns: Turns.optional(),
    tokens: Tokens.optional().describe('Token IDs, as numbers or typed data.'),
    masks: Tokens.optional().describe('Training mask, as long as `tokens`: −100 marks tokens that are not trained.'),
    logprobs: numberListSchema('a list of finite numbers and nulls', isFiniteNumberList, ['number', 'null'])
      .optional()
      .describe('Log-probabilities of the tokens, as long as `tokens`.'),
    policy_version: Count.optional().describe(
      'Version of the policy that generated this rollout. Defaults to the version of the group.',
    ),
    finish_reason: FinishReason.nullish().describe(
      'Why the generation ended, also as SGLang’s object with a `type`. `length`: the completion was cut off at the token limit. Ends and refusals are scored; any other reason, such as `abort`, means that the generation failed, and the rollout is unscored.',
    ),
    length_tokens: Count.optional().describe(
      'Length of the completion in tokens. Defaults to the number of trained tokens, if `tokens` or `masks` are given.',
    ),
    arrays: z
      .record(
        z.string(),
        z.unknown().refine((value) => !looksLikeBase64Array(value) || isBase64Array(value), BASE64_ARRAY_DESCRIPTION),
      )
      .optional()
      .describe(
        'Data of your own that batches return unchanged. Typed data comes back bit for bit with `?arrays=base64`.',
      ),
    extra: z.unknown().optional().describe('Any JSON value; batches return it unchanged.'),
  })
  .superRefine((rollout, context) => {
    const { completion, messages, turns } = rollout
    if ([completion, messages, turns].filter((given) => given !== undefined).length !== 1)
      context.addIssue({ code: 'custom', path: ['completion'], message: 'give one of completion, messages and turns' })
    const lengths = [rollout.tokens, rollout.masks, rollout.logprobs].filter((x) => x !== undefined).map(countNumbers)
    if (new Set(lengths).size > 1) {
      context.addIssue({
        code: 'custom',
        path: ['tokens'],
        message: `tokens, masks and logprobs must have the same length, but have ${lengths.join(', ')}`,
      })
    }
  })
  .meta({ id: 'Rollout', description: 'One completion of an item, with its tokens, masks and log-probabilities.' })
export type Rollout = z.infer<typeof Rollout>

/** The number of trained positions of a mask. */
export function countTrainedTokens(masks: Tokens): number {
  let trained = 0
  const values = isNumberList(masks) ? masks : viewAsNumbers(masks.dtype, getOrDecodeBytes(masks))
  const { length } = values // reading it in each iteration costs more than the comparison
  for (let k = 0; k < length; k++) if (values[k] !== -100) trained++
  return trained
}

/** Releases the memory of a rollout's tokens, masks and log-probabilities after they are stored. They are empty then. */
export function detachTokenLists({ tokens, masks, logprobs }: Rollout): void {
  for (const numbers of [tokens, masks, logprobs]) if (numbers) detachNumbers(numbers)
}

export const GroupSubmission = z
  .strictObject({
    item_id: ItemId,
    group_id: PostedGroupId.optional().describe(
      'ID of the group, unique in the run. It must not begin with `open-`. Defaults to an ID derived from the content, so that a repeated request counts once.',
    ),
    policy_version: Count.optional().describe(
      'Policy version of the rollouts that have none of their own. The version of the group is the smallest one of its rollouts.',
    ),
    buffer: z
      .boolean()
      .optional()
      .describe(
        'If false, the group is scored but kept out of the batches. Defaults to the `buffer` setting of the run.',
      ),
    extra: z.unknown().optional().describe('Any JSON value; batches return it unchanged.'),
    rollouts: z.array(Rollout).min(1).max(1024).describe('Rollouts of the item.'),
  })
  .meta({ id: 'GroupSubmission', description: 'Rollouts of one item, to be scored together.' })
export type GroupSubmission = z.infer<typeof GroupSubmission>

export const Destination = z.enum(['buffered', 'not_buffered', 'no_signal', 'stale', 'skipped', 'rewound']).meta({
  id: 'Destination',
  description:
    'What happened to a scored group. `buffered`: it waits for a batch or is in one; `not_buffered`: buffering is turned off; `no_signal`: its rewards carry no training signal; `stale`: it was dropped for its policy lag; `skipped`: all its rollouts are too short; `rewound`: it was voided or left the buffer when its run was rewound.',
})
export type Destination = z.infer<typeof Destination>

export const GroupStatistics = {
  mean_score: NullableNumber.describe(
    'Mean score of the rollouts that are scored and not skipped; null if there are none.',
  ),
  mean_reward: NullableNumber.describe(
    'Mean reward of the voters: the rollouts that are scored and neither skipped nor masked; null if there are none.',
  ),
  std_reward: NullableNumber.describe('Population standard deviation of the voters’ rewards; null if there are none.'),
  percent_correct: NullableNumber.describe(
    'Share, in [0, 1], of the rollouts behind `mean_score` with a score of at least 0.5; null if there are none.',
  ),
  voters: z.int().describe('Number of voters: rollouts that are scored and neither skipped nor masked.'),
  lengths: z
    .enum(['all', 'some', 'none'])
    .describe('Whether `all`, `some` or `none` of the rollouts have a length in tokens.'),
  length_penalty: z.boolean().describe('Whether the length penalty lowered any reward.'),
  signal: z
    .boolean()
    .describe(
      'Whether the group carries training signal: its voters differ. Always true for a group posted with one rollout, false if a larger group has a single voter left.',
    ),
}

export const Group = z
  .strictObject({
    group_id: GroupId,
    run: RunName,
    item_id: ItemId,
    task: z.string().describe('Name of the task.'),
    difficulty: NullableNumber.describe('Difficulty of the item; null for library defaults or a config.'),
    status: z
      .enum(['queued', 'scored', 'failed'])
      .describe('`queued`: not scored yet; `scored`: at least one rollout was scored; `failed`: none could be scored.'),
    verdicts: z
      .array(GroupVerdict)
      .optional()
      .describe(
        'Verdicts in the order of the rollouts. Absent while the group is queued, and for groups older than the last `keep_groups`.',
      ),
    rewards: z
      .array(NullableNumber)
      .optional()
      .describe(
        'Rewards in the order of the rollouts; null if unscored. They remain available after the verdicts are deleted.',
      ),
    ...z.object(GroupStatistics).partial().shape,
    percent_correct_first_try: NullableNumber.optional().describe(
      '`percent_correct` after the first try alone, for a group with rollouts of several turns.',
    ),
    destination: Destination.nullable().describe(
      'What happened to the group; null while it is queued or if it failed.',
    ),
    code: z.string().optional().describe('Error code of a failed group.'),
    detail: z.string().optional().describe('Reason for the failure, in a sentence.'),
  })
  .meta({ id: 'Group', description: 'The rollouts of one item that are scored together, with their verdicts.' })
export type Group = z.infer<typeof Group>
