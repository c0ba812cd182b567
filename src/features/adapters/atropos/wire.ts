/** Messages of the Atropos trajectory API between a trainer and a run. Unknown fields are dropped: versions differ in them. */
import { z } from 'zod'

/** Limit on the sequences that a trainer may request in one batch. */
const MAX_BATCH_SIZE = 65_536
const MAX_NAME_CHARS = 1000

/** Atropos's clients send null for a name that is not set. */
const Name = z
  .string()
  .max(MAX_NAME_CHARS)
  .nullish()
  .transform((text) => text ?? '')

export const Registration = z
  .object({
    wandb_group: Name.describe('Weights & Biases group.'),
    wandb_project: Name.describe('Weights & Biases project.'),
    batch_size: z.int().min(1).max(MAX_BATCH_SIZE).describe('Number of sequences in a batch.'),
    max_token_len: z
      .int()
      .describe('Maximum length of a sequence that the trainer accepts, in tokens; 0 or less for no limit.'),
    checkpoint_dir: Name.describe('Checkpoint folder, passed on to the environments.'),
    save_checkpoint_interval: z
      .int()
      .default(-1)
      .describe('Number of steps between checkpoints, passed on to the environments; -1 if unknown.'),
    starting_step: z.int().min(0).default(0).describe('Step that the trainer starts at.'),
    num_steps: z.int().min(-1).default(-1).describe('Number of steps that the trainer will run; -1 if unknown.'),
  })
  .meta({ id: 'AtroposRegistration', description: 'Registration of a trainer.' })
export type Registration = z.infer<typeof Registration>

export const Welcome = z
  .object({ message: z.string().describe('Fixed greeting.') })
  .meta({ id: 'AtroposWelcome', description: 'The API is up.' })

export const Registered = z
  .object({ uuid: z.int().describe('ID of the registration. No other call needs it.') })
  .meta({ id: 'AtroposTrainer', description: 'The trainer is registered.' })

export const Info = z
  .object({
    batch_size: z.int().describe('Number of sequences in a batch; -1 until a trainer has registered.'),
    max_token_len: z.int().describe('Maximum length of a sequence, in tokens; -1 until a trainer has registered.'),
  })
  .meta({ id: 'AtroposInfo', description: 'Batch settings of the trainer.' })

export const LoggingNames = z
  .object({
    group: z.string().nullable().describe('Weights & Biases group; null until a trainer has registered.'),
    project: z.string().nullable().describe('Weights & Biases project; null until a trainer has registered.'),
  })
  .meta({ id: 'AtroposLoggingNames', description: 'Weights & Biases names of the trainer.' })

export const Status = z
  .object({
    current_step: z.int().describe('Step of the next batch, at least the starting step of the trainer.'),
    queue_size: z.int().describe('Number of groups that wait for a batch.'),
  })
  .meta({ id: 'AtroposStatus', description: 'Step and queue length.' })

/** A batch, composed as text group by group. */
export const Batch = z
  .object({
    status: z.literal('error').optional().describe('Set if the run can give no batch.'),
    message: z.string().optional().describe('Why there is no batch.'),
    batch: z
      .array(z.record(z.string(), z.unknown()))
      .nullable()
      .describe('Groups with tokens, masks and scores; null while no batch is ready (retry in a second).'),
  })
  .meta({ id: 'AtroposBatch', description: 'A batch as the trainers of Atropos read it.' })
export type Batch = z.infer<typeof Batch>

/** The scored sequences of one prompt, each field with one entry for each sequence. */
interface ScoredGroup {
  tokens: number[][]
  /** −100 for a token that is not trained, else the token ID. */
  masks: number[][]
  scores: number[]
  /** Log-probabilities of the generation, as long as the tokens; 1.0 at masked positions. */
  inference_logprobs?: number[][]
  messages?: object[][]
  overrides: object[]
}

/** Keys that the trainer expects in each group, and that a run has no value for. */
const ABSENT_FIELDS = {
  advantages: null,
  ref_logprobs: null,
  messages: null,
  generation_params: null,
  group_overrides: null,
  images: null,
  env_id: null,
  distill_token_ids: null,
  distill_logprobs: null,
}

/**
 * Formats a group as a trainer gets it: every key is present, with null where there is no value, except
 * `inference_logprobs`, because a null there ends Atropos's example trainer.
 */
export function formatGroup(group: ScoredGroup): string {
  return JSON.stringify({ ...ABSENT_FIELDS, ...group })
}
