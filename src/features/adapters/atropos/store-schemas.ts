/** The answers of the Atropos trajectory API. */
import { z } from 'zod'
import { RunName } from '../../../contract/rollout.ts'

/** The path of a store: that of all, or one of its own, named like a run so that a key can be bound to it. */
export interface StorePath {
  prefix: string
  /** What sets its operation IDs apart. */
  label: string
  params: z.ZodType<{ run?: string | undefined }>
}

export const STORE_PATHS: readonly StorePath[] = [
  { prefix: '/atropos', label: '', params: z.strictObject({}) },
  {
    prefix: '/atropos/stores/:run',
    label: 'Store',
    params: z.strictObject({ run: RunName.describe('Name of the store') }),
  },
]

export const Welcome = z.object({ message: z.string() })
export const Registered = z.object({ uuid: z.int().describe('Not needed later') })
export const Info = z.object({
  batch_size: z.int().describe('Sequences of a batch; -1 before a trainer registered'),
  max_token_len: z.int().describe('-1 before a trainer registered'),
})
export const LoggingNames = z.object({
  group: z.string().nullable().describe('Group of Weights & Biases; null before a trainer registered'),
  project: z.string().nullable(),
})
export const Status = z.object({
  current_step: z.int().describe('Batches so far, counted from the starting step of the trainer'),
  queue_size: z.int().describe('Groups that wait'),
})

/** Composed as text, group by group. */
export const Batch = z
  .object({
    status: z.literal('error').optional(),
    message: z.string().optional().describe('Why there is no batch'),
    batch: z
      .array(z.record(z.string(), z.unknown()))
      .nullable()
      .describe('Groups with the fields of `scored_data`; null: ask again in a second'),
  })
  .meta({ id: 'AtroposBatch', description: 'A batch as the trainers of Atropos read it.' })
export type Batch = z.infer<typeof Batch>

export const UNREGISTERED: Batch = {
  status: 'error',
  message: 'Trainer not registered. Call /register first.',
  batch: [],
}

export const EnvironmentAnswer = z.object({
  status: z.enum(['success', 'wait for trainer to start']),
  env_id: z.int().optional(),
  wandb_name: z.string().optional().describe('The desired name with a number'),
  checkpoint_dir: z.string().optional(),
  starting_step: z.int().optional(),
  checkpoint_interval: z.int().optional(),
  num_steps: z.int().optional(),
})
export const Disconnected = z.object({ status: z.enum(['success', 'failure']), error: z.string().optional() })
export const EnvironmentStatusAnswer = z
  .object({
    current_step: z.int(),
    queue_size: z.int().describe('Groups of the size of this environment that wait beyond the shares of others'),
    unallocated_fraction: z.number().describe('Of a batch that no environment has reserved'),
    self_queue_size: z.int().describe('Own groups that wait'),
    max_group_size: z.int().describe('Of all groups that wait'),
    env_weight: z.number().describe('Share of the inference'),
  })
  .meta({ id: 'AtroposEnvironmentStatus', description: 'By which an environment paces itself.' })
export const Received = z.object({ status: z.literal('received') })
export const ReceivedList = z.object({ status: z.literal('received'), groups_processed: z.int() })
