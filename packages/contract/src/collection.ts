/** A collection: a run's items completed by a model behind an API, and scored like posted groups. */
import { z } from 'zod'
import { Count, CountByName, NullableNumber } from './common.ts'
import { NOT_FOUND_CODES } from './errors.ts'
import {
  GenerationJobStatus,
  GenerationParamFields,
  GenerationProgress,
  JobFailure,
  JobTimes,
  ModelInput,
  ModelLocation,
  SampleFailures,
} from './generation-job.ts'
import { RunName } from './rollout.ts'

export const CollectionId = z
  .string()
  .regex(/^collect-[0-9a-f]{12,32}$/, 'must be an ID that POST /runs/{run}/collect returned')
  .meta({ id: 'CollectionId', description: 'ID of a collection.', examples: ['collect-0123456789abcdef0123'] })
  .register(NOT_FOUND_CODES, { code: 'unknown_collection', kind: 'collection' }) // last: every other method returns a copy that is not registered
export type CollectionId = z.infer<typeof CollectionId>

export const CollectionInput = z
  .strictObject({
    model: ModelInput,
    groups: z
      .int()
      .min(1)
      .max(100_000)
      .describe('Number of groups to collect, each with the `group_size` rollouts of the run.'),
    ...GenerationParamFields,
    buffer: z
      .boolean()
      .optional()
      .describe(
        'If false, the groups are scored but kept out of the batches. Defaults to the `buffer` setting of the run.',
      ),
  })
  .meta({ id: 'CollectionInput', description: 'Request to have a model complete items of a run.' })
export type CollectionInput = z.infer<typeof CollectionInput>

export const CollectionView = z
  .strictObject({
    id: CollectionId,
    run: RunName.describe('Run whose items are completed.'),
    status: GenerationJobStatus,
    waiting_for: z
      .literal('trainer')
      .nullable()
      .describe('Set while the collection waits for room in the buffer of the run; else null.'),
    model: ModelLocation.describe('Model that completes the items.'),
    group_size: Count.describe('Rollouts per group.'),
    ...JobTimes,
    progress: GenerationProgress.describe('Progress in samples. They count when their group is posted.'),
    failures: SampleFailures,
    detail: JobFailure,
    result: z
      .strictObject({
        groups: Count.describe('Number of groups that were posted.'),
        scored: Count.describe('Number of groups in which at least one rollout was scored.'),
        failed: Count.describe('Number of groups without any score or completion.'),
        queued: Count.describe('Number of groups that were not scored yet when the collection ended.'),
        destinations: CountByName.describe('Number of groups by destination.'),
        mean_score: NullableNumber.describe('Mean of the groups’ mean scores; null if there are none.'),
        failures: SampleFailures,
      })
      .meta({ id: 'CollectionResult', description: 'Result of a collection.' })
      .nullable()
      .describe('Result; null until the collection has ended.'),
  })
  .meta({ id: 'CollectionView', description: 'A collection: a run’s items completed by a model behind an API.' })
export type CollectionView = z.infer<typeof CollectionView>
