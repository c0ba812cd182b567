/**
 * Request schemas of the Atropos trajectory API. Unknown fields are dropped, because client versions differ in them.
 */
import { z } from 'zod'
import { withFastParser } from '../../../http/validation.ts'

/** Limit on the sequences that a trainer may request in one batch. */
const MAX_BATCH_SIZE = 65_536
const MAX_NAME_CHARS = 1000

const Text = z.string().max(MAX_NAME_CHARS)
const Count = z.int().min(-1)

export const Registration = z
  .object({
    wandb_group: Text.nullish()
      .transform((text) => text ?? '')
      .describe('Weights & Biases group.'),
    wandb_project: Text.nullish()
      .transform((text) => text ?? '')
      .describe('Weights & Biases project.'),
    batch_size: z.int().min(1).max(MAX_BATCH_SIZE).describe('Number of sequences in a batch.'),
    max_token_len: z
      .int()
      .describe('Maximum length of a sequence that the trainer accepts, in tokens; 0 or less for no limit.'),
    checkpoint_dir: Text.nullish()
      .transform((text) => text ?? '')
      .describe('Checkpoint folder, passed on to the environments.'),
    save_checkpoint_interval: z
      .int()
      .default(-1)
      .describe('Number of steps between checkpoints, passed on to the environments; -1 if unknown.'),
    starting_step: z.int().min(0).default(0).describe('Step that the trainer starts at.'),
    num_steps: Count.default(-1).describe('Number of steps that the trainer will run; -1 if unknown.'),
  })
  .meta({ id: 'AtroposRegistration', description: 'Registration of a trainer.' })
export type Registration = z.infer<typeof Registration>

export const EnvironmentRegistration = z
  .object({
    max_token_length: z.int().min(0).describe('Maximum length of the environment’s sequences, in tokens.'),
    desired_name: Text.nullish().describe('Name of the environment. The server appends a number to make it unique.'),
    weight: z.number().nullish().describe('Weight of the environment in the inference. Defaults to 1.'),
    group_size: z.int().min(1).max(MAX_BATCH_SIZE).default(1).describe('Usual number of sequences in a group.'),
    min_batch_allocation: z
      .number()
      .min(0)
      .max(1)
      .nullish()
      .describe('Minimum share of each batch that is reserved for the environment.'),
  })
  .meta({ id: 'AtroposEnvironmentRegistration', description: 'Registration of an environment.' })
export type EnvironmentRegistration = z.infer<typeof EnvironmentRegistration>

/** An environment as stored. */
export const Environment = z.object({
  name: z.string(),
  max_token_length: z.number(),
  weight: z.number(),
  group_size: z.number(),
  min_batch_allocation: z.number().nullable(),
  connected: z.boolean(),
})
export type Environment = z.infer<typeof Environment>

export const EnvironmentId = z.int().min(0)
export const EnvironmentReference = z
  .object({ env_id: EnvironmentId.describe('Number of the environment, as `register-env` returned it.') })
  .meta({ id: 'AtroposEnvironmentReference', description: 'An environment by its number.' })

const Numbers = z.array(z.number())
const Integers = z.array(z.int())
const Message = z
  .looseObject({
    role: z.unknown().describe('Role of the author.'),
    content: z.unknown().describe('Content of the message.'),
  })
  .describe('A chat message.')

const OPTIONAL_FIELDS = {
  advantages: z.array(Numbers).nullish().describe('Advantages of each sequence, by token.'),
  ref_logprobs: z.array(Numbers).nullish().describe('Log-probabilities of a reference model, by token.'),
  messages: z.array(z.array(Message)).nullish().describe('Chat messages of each sequence.'),
  generation_params: z.record(z.string(), z.unknown()).nullish().describe('Parameters of the generation.'),
  inference_logprobs: z
    .array(Numbers)
    .nullish()
    .describe('Log-probabilities of the generation, as long as the tokens; 1.0 at masked positions.'),
  overrides: z.array(z.record(z.string(), z.unknown())).nullish().describe('Overrides of each sequence.'),
  group_overrides: z.record(z.string(), z.unknown()).nullish().describe('Overrides of the group.'),
  images: z.unknown().optional().describe('Images of the prompt.'),
  env_id: z.int().nullish().describe('Number of the environment.'),
  distill_token_ids: z.array(z.array(Integers)).nullish().describe('Token IDs for distillation, by token.'),
  distill_logprobs: z.array(z.array(Numbers)).nullish().describe('Log-probabilities for distillation, by token.'),
}
const OPTIONAL_NAMES = Object.keys(OPTIONAL_FIELDS)

const Group = z
  .object({
    tokens: z.array(Integers).min(1).describe('Token IDs of each sequence.'),
    masks: z
      .array(Integers)
      .describe('Mask of each sequence: −100 for a token that is not trained, else the token ID.'),
    scores: Numbers.describe('Score of each sequence.'),
    ...OPTIONAL_FIELDS,
  })
  .superRefine(({ tokens, masks, scores }, context) => {
    const reject = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })
    if (masks.length !== tokens.length)
      reject(['masks'], `must have ${tokens.length} lists, one per sequence, but has ${masks.length}`)
    if (scores.length !== tokens.length)
      reject(['scores'], `must have ${tokens.length} numbers, one per sequence, but has ${scores.length}`)
    const odd = tokens.findIndex(({ length }, k) => masks[k] !== undefined && masks[k].length !== length)
    if (odd >= 0)
      reject(['masks', odd], `must have ${tokens[odd]?.length} entries, one per token, but has ${masks[odd]?.length}`)
  })
  .meta({ id: 'AtroposGroup', description: 'The scored sequences of one prompt.' })

/** A scored group with a fast parser, because zod takes as long over a long group as all other work together. */
export const ScoredGroup = withFastParser(Group, (value) => (isPlainGroup(value) ? value : undefined))
export type ScoredGroup = z.infer<typeof Group>
export const ScoredGroups = withFastParser(z.array(Group).max(4096), (value) =>
  Array.isArray(value) && value.length <= 4096 && value.every(isPlainGroup) ? value : undefined,
)

/** Checks for a group of numbers without the rarer fields; others are left to zod. */
function isPlainGroup(value: unknown): value is ScoredGroup {
  if (typeof value !== 'object' || value === null) return false
  const { tokens, masks, scores, inference_logprobs: logprobs, ...rest } = value as Record<string, unknown>
  if (!isTable(tokens, Number.isInteger) || !isTable(masks, Number.isInteger) || !isList(scores, isNumber)) return false
  if (tokens.length === 0 || masks.length !== tokens.length || scores.length !== tokens.length) return false
  if (tokens.some(({ length }, k) => masks[k]?.length !== length)) return false
  if (logprobs !== undefined && logprobs !== null && !isTable(logprobs, isNumber)) return false
  return OPTIONAL_NAMES.every((name) => {
    const field = rest[name]
    return field === undefined || field === null || (name === 'env_id' && Number.isInteger(field))
  })
}

const isNumber = (value: unknown): value is number => typeof value === 'number'

function isList(value: unknown, isElement: (element: unknown) => boolean): value is number[] {
  if (!Array.isArray(value)) return false
  for (let k = 0; k < value.length; k++) if (!isElement(value[k])) return false
  return true
}

function isTable(value: unknown, isElement: (element: unknown) => boolean): value is number[][] {
  return Array.isArray(value) && value.every((row) => isList(row, isElement))
}

/**
 * Formats a group as a trainer gets it: every key is present, with null where the environment sent none, except
 * `inference_logprobs`, because a null there ends Atropos's example trainer.
 */
export function formatGroup(group: ScoredGroup): string {
  const { tokens, masks, scores, inference_logprobs: logprobs } = group
  const optional = Object.fromEntries(
    OPTIONAL_NAMES.filter((name) => name !== 'inference_logprobs').map((name) => [
      name,
      group[name as keyof ScoredGroup] ?? null,
    ]),
  )
  return JSON.stringify({ tokens, masks, scores, ...(logprobs && { inference_logprobs: logprobs }), ...optional })
}

/** Response of `latest_example` before the first group. */
export const NO_EXAMPLE = {
  tokens: [],
  masks: [],
  scores: [],
  advantages: [],
  ref_logprobs: [],
  generation_params: [],
  inference_logprobs: [],
  messages: [],
  images: [],
}
