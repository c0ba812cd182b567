/** From the groups of a collection to its result. */
import type { CollectionView } from '../../contract/collection.ts'
import type { Group } from '../../contract/rollout.ts'
import { mean } from './statistics.ts'

/** What became of a group of a collection. */
export interface CollectedGroup {
  group_id: string
  status: Group['status']
  destination: Group['destination']
  mean_score: number | null
}

export function aggregateCollection(groups: CollectedGroup[]): NonNullable<CollectionView['result']> {
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
    mean_score: mean(groups.flatMap(({ mean_score }) => mean_score ?? [])),
  }
}
