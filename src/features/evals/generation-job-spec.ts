/** What a generation job does, as Redis stores it: all that its workers and a repetition need, except the model's API key. */
import { z } from 'zod'
import { DuelSuite } from '../../contract/duel.ts'
import { EvalLabels } from '../../contract/eval.ts'
import { Extraction, ScoringMode } from '../../contract/verdict.ts'
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
  /** Tasks that were asked for, with the reason why they have no frontier. */
  left_out: z.record(z.string(), z.string()),
})
export type FrontierPlan = z.infer<typeof FrontierPlan>

export const EvalSpec = z.strictObject({
  kind: z.literal('eval'),
  /** null: the caller supplies the completions. */
  model: ModelSpec.nullable(),
  suite: z.strictObject({
    name: z.string(),
    version: z.int().nullable(),
    sha256: z.string().nullable(),
    items: z.int(),
  }),
  /** The eval chooses its items as it goes. */
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
  /** UUID of the run: a later one of its name gets nothing of the collection. */
  incarnation: z.string().optional(),
  groups: z.int(),
  group_size: z.int(),
  buffer: z.boolean(),
})
export type CollectionSpec = z.infer<typeof CollectionSpec>

/** Samples 2k and 2k + 1 are those of `model` and `opponent` on item k. */
export const DuelSpec = z.strictObject({
  kind: z.literal('duel'),
  /** a */
  model: ModelSpec,
  /** b */
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

/** Samples of each item of a duel. */
export const DUEL_SIDES = 2

export type GenerationJobKind = GenerationJobSpec['kind']
export type SpecOfKind<Kind extends GenerationJobKind> = Extract<GenerationJobSpec, { kind: Kind }>

/** Samples are numbered item by item: with 4 samples per item, sample 7 is the last one of item 1. */
export function itemIndexOfSample(spec: EvalSpec | DuelSpec, sample: number): number {
  return Math.floor(sample / (spec.kind === 'duel' ? DUEL_SIDES : spec.samples_per_item))
}
