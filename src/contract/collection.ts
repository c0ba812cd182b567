/** The run's items answered by a model, and scored like posted groups. */
import { z } from 'zod'
import { GenerationJobStatus, GenerationParamFields, GenerationProgress, ModelInput } from './eval.ts'
import { NOT_FOUND_CODES } from './problem.ts'
import { RunName } from './rollout.ts'

export const CollectionId = z
  .string()
  .regex(/^collect-[0-9a-f]{12,32}$/, 'an ID as POST /runs/{run}/collect returned it')
  .register(NOT_FOUND_CODES, { code: 'unknown_collection' })
export type CollectionId = z.infer<typeof CollectionId>

export const CollectionInput = z
  .strictObject({
    model: ModelInput,
    groups: z.int().min(1).max(100_000).describe('Groups wanted, each of the run’s group_size rollouts'),
    ...GenerationParamFields,
    buffer: z.boolean().optional().describe('false: scored, but kept out of the batches; none: as the run is set'),
  })
  .meta({ id: 'CollectionInput' })
export type CollectionInput = z.infer<typeof CollectionInput>

const Count = z.int().min(0)

export const CollectionView = z
  .strictObject({
    id: CollectionId,
    run: RunName,
    status: GenerationJobStatus,
    waiting_for: z.literal('trainer').nullable().describe('Set while the buffer has no room'),
    model: z.strictObject({ name: z.string(), base_url: z.string() }),
    group_size: Count,
    created_at: z.string(),
    started_at: z.string().nullable(),
    ended_at: z.string().nullable(),
    progress: GenerationProgress.describe('In samples, counted when their group is posted'),
    detail: z.string().nullable(),
    result: z
      .strictObject({
        groups: Count.describe('Posted and scored, or failed'),
        scored: Count,
        failed: Count.describe('Of which nothing could be scored, or no completion came'),
        queued: Count.describe('Not scored yet when the collection ended'),
        destinations: z.record(z.string(), Count),
        mean_score: z.number().nullable().describe('Over the groups'),
      })
      .nullable(),
  })
  .meta({ id: 'CollectionView' })
export type CollectionView = z.infer<typeof CollectionView>
