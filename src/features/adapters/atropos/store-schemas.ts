/** Response schemas of the Atropos trajectory API. */

import { RunName } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'

/** Path of a store: the shared one, or one named like a run so that a key can be bound to it. */
export interface StorePath {
  prefix: string
  /** Suffix that distinguishes its operation IDs. */
  label: string
  params: z.ZodType<{ run?: string | undefined }>
}

export const STORE_PATHS: readonly StorePath[] = [
  { prefix: '/atropos', label: '', params: z.strictObject({}) },
  {
    prefix: '/atropos/stores/:run',
    label: 'Store',
    params: z.strictObject({ run: RunName.describe('Name of the store.') }),
  },
]

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
    current_step: z.int().describe('Starting step of the trainer plus the number of batches so far.'),
    queue_size: z.int().describe('Number of groups that wait for a batch.'),
  })
  .meta({ id: 'AtroposStatus', description: 'Step and queue length.' })

/** A batch, composed as text group by group. */
export const Batch = z
  .object({
    status: z.literal('error').optional().describe('Set if no trainer has registered.'),
    message: z.string().optional().describe('Why there is no batch.'),
    batch: z
      .array(z.record(z.string(), z.unknown()))
      .nullable()
      .describe('Groups with the fields of `scored_data`; null while no batch is ready (retry in a second).'),
  })
  .meta({ id: 'AtroposBatch', description: 'A batch as the trainers of Atropos read it.' })
export type Batch = z.infer<typeof Batch>

export const UNREGISTERED: Batch = {
  status: 'error',
  message: 'Trainer not registered. Call /register first.',
  batch: [],
}

export const EnvironmentAnswer = z
  .object({
    status: z
      .enum(['success', 'wait for trainer to start'])
      .describe('`wait for trainer to start` until a trainer has requested a batch.'),
    env_id: z.int().optional().describe('Number of the environment.'),
    wandb_name: z.string().optional().describe('Desired name with a number appended.'),
    checkpoint_dir: z.string().optional().describe('Checkpoint folder of the trainer.'),
    starting_step: z.int().optional().describe('Current step of the trainer.'),
    checkpoint_interval: z.int().optional().describe('Number of steps between checkpoints; -1 if unknown.'),
    num_steps: z.int().optional().describe('Number of steps that the trainer will run; -1 if unknown.'),
  })
  .meta({ id: 'AtroposEnvironmentSettings', description: 'Registration of the environment.' })
export const Disconnected = z
  .object({
    status: z.enum(['success', 'failure']).describe('`failure` if there is no such environment.'),
    error: z.string().optional().describe('Reason for the failure.'),
  })
  .meta({ id: 'AtroposDisconnection', description: 'Whether the environment was removed.' })
export const EnvironmentStatusAnswer = z
  .object({
    current_step: z.int().describe('Starting step of the trainer plus the number of batches so far.'),
    queue_size: z
      .int()
      .describe(
        'Number of waiting groups, in groups of this environment’s size, beyond the shares reserved for others.',
      ),
    unallocated_fraction: z.number().describe('Share of a batch that no environment has reserved.'),
    self_queue_size: z.int().describe('Number of waiting groups of this environment.'),
    max_group_size: z.int().describe('Largest size of the waiting groups.'),
    env_weight: z.number().describe('Weight of this environment in the inference.'),
  })
  .meta({ id: 'AtroposEnvironmentStatus', description: 'State of the queue, by which an environment paces itself.' })
export const Received = z
  .object({ status: z.literal('received').describe('The group was accepted.') })
  .meta({ id: 'AtroposReceipt', description: 'The group was accepted.' })
export const ReceivedList = z
  .object({
    status: z.literal('received').describe('The groups were accepted.'),
    groups_processed: z.int().describe('Number of accepted groups.'),
  })
  .meta({ id: 'AtroposListReceipt', description: 'The groups were accepted.' })
