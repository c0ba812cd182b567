/** Decides which rollouts of a batch each rank gets. Slices are disjoint, cover the batch, and are the same for every caller. */
import type { GroupSummary, RankSlice, StoredBatch } from '@reasoning-gym-server/contract/batch'

/** Delivered rollouts of one group, as indexes into the posted rollouts. */
export interface GroupSlice {
  group: GroupSummary
  indices: number[]
}

/** Lists what the batch delivers, oldest group first. Under `omit`, unscored rollouts are left out. */
export function listGroupSlices({ groups, unscored }: StoredBatch): GroupSlice[] {
  return groups.map((group) => ({
    group,
    indices: [...group.rollouts.keys()].filter((k) => unscored === 'mask' || group.rollouts[k]?.[0] !== null),
  }))
}

/**
 * Returns the groups of a rank. Slices are disjoint, cover the batch, and are the same for every caller. If there are more
 * ranks than groups, splits groups even if `tokens` was requested.
 */
export function computeRankSlice(batch: StoredBatch, { rank, ranks }: RankSlice): GroupSlice[] {
  const portions = listGroupSlices(batch)
  const isWhole = batch.balance === 'tokens' && portions.length >= ranks
  return isWhole ? assignWholeGroups(portions, rank, ranks) : splitEvenly(portions, rank, ranks)
}

export function countRollouts(portions: GroupSlice[]): number {
  return portions.reduce((sum, { indices }) => sum + indices.length, 0)
}

/** Assigns the heaviest group first, to the lightest rank. Each rank's groups are then in the order of the batch. */
function assignWholeGroups(portions: GroupSlice[], rank: number, ranks: number): GroupSlice[] {
  const weigh = computeGroupWeights(portions)
  const loads = Array<number>(ranks).fill(0)
  const heaviestFirst = [...portions.keys()].toSorted((a, b) => (weigh[b] ?? 0) - (weigh[a] ?? 0) || a - b)
  const mine: number[] = []
  for (const k of heaviestFirst) {
    const lightest = loads.indexOf(Math.min(...loads))
    loads[lightest] = (loads[lightest] ?? 0) + (weigh[k] ?? 0)
    if (lightest === rank) mine.push(k)
  }
  const wanted = new Set(mine)
  return portions.filter((_, k) => wanted.has(k))
}

/**
 * Returns weights in tokens or, if any length in the batch is missing, in rollouts, because the two units cannot be
 * added.
 */
function computeGroupWeights(portions: GroupSlice[]): number[] {
  const lengths = portions.map(({ group, indices }) => indices.map((k) => group.rollouts[k]?.[2] ?? null))
  const known = lengths.every((of) => of.every((length) => length !== null))
  return lengths.map((of) => (known ? of.reduce<number>((sum, length) => sum + (length ?? 0), 0) : of.length))
}

/** Splits into consecutive rollouts. The numbers for any two ranks differ by at most one. */
function splitEvenly(portions: GroupSlice[], rank: number, ranks: number): GroupSlice[] {
  const total = countRollouts(portions)
  const from = Math.floor((total * rank) / ranks)
  const to = Math.floor((total * (rank + 1)) / ranks)
  let at = 0
  return portions.flatMap(({ group, indices }) => {
    const mine = indices.slice(Math.max(0, from - at), Math.max(0, to - at))
    at += indices.length
    return mine.length === 0 ? [] : [{ group, indices: mine }]
  })
}
