/** Collections: a model completes a run's items, and the groups are scored like posted ones. */

import { type CollectionInput, CollectionView } from '@reasoning-gym-server/contract/collection'
import { isActive } from '@reasoning-gym-server/contract/generation-job'
import { Group } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import { meanOrNull } from '../../../grading/statistics.ts'
import type { ResolvedRun } from '../../runs/types.ts'
import type { EvalParts } from '../job-items.ts'
import { buildJobState, type JobDescription, type JobKind } from '../job-kinds.ts'
import type { EgressPolicy } from '../models/egress-policy.ts'
import { buildModelSpec } from '../models/spec.ts'
import type { JobOfKind } from '../records.ts'
import { listFailures, type StoredFailure } from '../samples/failure-reasons.ts'
import type { SampleRepository } from '../samples/repository.ts'
import { streamVerdictsOf } from '../samples/stream.ts'

/** Default temperature, the usual one for training rollouts. */
const DEFAULT_TEMPERATURE = 1

export function createCollectionKind({ samples, egressPolicy }: EvalParts): JobKind<'collection'> {
  return {
    kind: 'collection',
    getRunName: () => undefined,
    getApiKey: ({ model }) => model.api_key,
    describe: (input, run) => describeCollection(input, run, egressPolicy),
    matches: () => true,
    aggregate: async (job) => aggregateCollection(await listCollectedGroups(samples, job), job.failures),
    buildView: buildCollectionView,
    buildSummary: buildCollectionView,
    buildEvent: ({ id, status, progress, failures, result, detail }) => ({
      id,
      status,
      progress,
      failures,
      result,
      detail,
    }),
  }
}

async function describeCollection(
  input: CollectionInput,
  run: ResolvedRun | undefined,
  egressPolicy: EgressPolicy,
): Promise<JobDescription<'collection'>> {
  if (!run) throw new TypeError('a collection belongs to a run')
  const { group_size, buffer } = run.settings
  const temperature = input.temperature === undefined ? DEFAULT_TEMPERATURE : input.temperature
  return {
    spec: {
      kind: 'collection',
      model: await buildModelSpec(input.model, { ...input, temperature }, egressPolicy),
      run: run.name,
      incarnation: run.incarnation,
      groups: input.groups,
      group_size,
      buffer: input.buffer ?? buffer,
    },
    samples: input.groups * group_size,
    items: [],
  }
}

function buildCollectionView(job: JobOfKind<'collection'>): CollectionView {
  const { run, model, group_size } = job.spec
  return {
    id: job.id,
    run,
    status: job.status,
    waiting_for: isActive(job.status) ? job.waiting_for : null,
    model: { name: model.name, base_url: model.base_url },
    group_size,
    ...buildJobState(job),
    result: CollectionView.shape.result.parse(job.result),
  }
}

export const CollectedGroup = z.strictObject({
  group_id: z.string(),
  status: Group.shape.status,
  destination: Group.shape.destination,
  mean_score: z.number().nullable(),
})
export type CollectedGroup = z.infer<typeof CollectedGroup>

function aggregateCollection(
  groups: CollectedGroup[],
  failures: readonly StoredFailure[],
): NonNullable<CollectionView['result']> {
  const count = (status: CollectedGroup['status']) => groups.filter((group) => group.status === status).length
  const destinations = Map.groupBy(
    groups.flatMap(({ destination }) => destination ?? []),
    (destination) => destination,
  )
  return {
    groups: groups.length,
    scored: count('scored'),
    failed: count('failed'),
    queued: count('queued'),
    destinations: Object.fromEntries([...destinations].map(([name, some]) => [name, some.length])),
    mean_score: meanOrNull(groups.flatMap(({ mean_score }) => mean_score ?? [])),
    failures: listFailures(failures),
  }
}

async function listCollectedGroups(
  samples: SampleRepository,
  { id, spec }: JobOfKind<'collection'>,
): Promise<CollectedGroup[]> {
  const groups: CollectedGroup[] = []
  for await (const [, group] of streamVerdictsOf(CollectedGroup, samples, { id, total: spec.groups })) {
    if (group) groups.push(group)
  }
  return groups
}
