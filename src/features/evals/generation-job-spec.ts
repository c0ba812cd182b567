/**
 * What a generation job does, as stored in Redis: all that workers and a repetition of the job need, except the model's
 * API key.
 */

import { DuelSuite } from '@reasoning-gym-server/contract/duel'
import { EvalLabels } from '@reasoning-gym-server/contract/eval'
import { Extraction, ScoringMode } from '@reasoning-gym-server/contract/verdict'
import { z } from 'zod'
import { ModelSpec } from './model-spec.ts'

const GradingRules = z.strictObject({ extraction: Extraction, dual_format: z.boolean(), scoring: ScoringMode })
const Prompt = z.strictObject({
  system_prompt: z.string().nullable(),
  system_prompt_role: z.enum(['system', 'user']),
})

/** What an eval in mode `frontier` measures. */
export const FrontierPlan = z.strictObject({
  tasks: z.array(z.string()),
  items_per_task: z.int(),
  seed: z.int(),
  /** Requested tasks that have no frontier, each with the reason. */
  left_out: z.record(z.string(), z.string()),
})
export type FrontierPlan = z.infer<typeof FrontierPlan>

export const EvalSpec = z.strictObject({
  kind: z.literal('eval'),
  /** Model to call; null if the caller supplies the completions. */
  model: ModelSpec.nullable(),
  suite: z.strictObject({
    name: z.string(),
    version: z.int().nullable(),
    sha256: z.string().nullable(),
    items: z.int(),
  }),
  /** Plan of an eval that chooses its items as it progresses. */
  frontier: FrontierPlan.optional(),
  samples_per_item: z.int(),
  temperature: z.number().nullable(),
  grading_rules: GradingRules,
  prompt: Prompt,
  run: z.string().nullable(),
  step: z.int().nullable(),
  labels: z.union([z.array(z.string()), z.record(z.string(), z.string())]),
  engine: z.string(),
  server: z.string(),
})
export type EvalSpec = z.infer<typeof EvalSpec>

export const CollectionSpec = z.strictObject({
  kind: z.literal('collection'),
  model: ModelSpec,
  run: z.string(),
  /** UUID of the run. A later run of the same name receives nothing from the collection. */
  incarnation: z.string().optional(),
  groups: z.int(),
  group_size: z.int(),
  buffer: z.boolean(),
})
export type CollectionSpec = z.infer<typeof CollectionSpec>

/** Spec of a duel. Samples 2k and 2k + 1 are those of `model` and `opponent` on item k. */
export const DuelSpec = z.strictObject({
  kind: z.literal('duel'),
  /** Model a. */
  model: ModelSpec,
  /** Model b. */
  opponent: ModelSpec,
  suite: DuelSuite,
  tasks: z.int(),
  max_items: z.int(),
  alpha: z.number(),
  smallest_difference: z.number(),
  grading_rules: GradingRules,
  prompt: Prompt,
  run: z.string().nullable(),
  labels: EvalLabels,
  engine: z.string(),
  server: z.string(),
})
export type DuelSpec = z.infer<typeof DuelSpec>

export const GenerationJobSpec = z.discriminatedUnion('kind', [EvalSpec, CollectionSpec, DuelSpec])
export type GenerationJobSpec = z.infer<typeof GenerationJobSpec>

/** Number of samples of each item of a duel, one per model. */
export const DUEL_SIDES = 2

export type GenerationJobKind = GenerationJobSpec['kind']
export type SpecOfKind<Kind extends GenerationJobKind> = Extract<GenerationJobSpec, { kind: Kind }>

/**
 * Returns the number of samples per item. Samples are numbered item by item: with 4 samples per item, sample 7 is the
 * last one of item 1.
 */
export function itemIndexOfSample(spec: EvalSpec | DuelSpec, sample: number): number {
  return Math.floor(sample / (spec.kind === 'duel' ? DUEL_SIDES : spec.samples_per_item))
}
