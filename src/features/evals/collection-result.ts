/** Aggregates the groups of a collection into its result. */

import type { CollectionView } from '@reasoning-gym-server/contract/collection'
import { Group } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import { meanOrNull } from '../../grading/statistics.ts'
import { listFailures, type StoredFailure } from './sample-failures.ts'

/** The stored record of one group of a collection. */
export const CollectedGroup = z.strictObject({
  group_id: z.string(),
  status: Group.shape.status,
  destination: Group.shape.destination,
  mean_score: z.number().nullable(),
})
export type CollectedGroup = z.infer<typeof CollectedGroup>

export function aggregateCollection(
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
