/** Which rollouts of a batch a rank gets. Slices are disjoint, cover the batch, and are the same for every caller. */
import type { GroupSummary, RankSlice, StoredBatch } from '../../contract/batch.ts'

/** Rollouts of one group that are delivered, as places in what was posted. */
export interface GroupSlice {
  group: GroupSummary
  indices: number[]
}

/** What the batch delivers, oldest group first: under `omit` without its unscored rollouts. */
export function listGroupSlices({ groups, unscored }: StoredBatch): GroupSlice[] {
  return groups.map((group) => ({
    group,
    indices: [...group.rollouts.keys()].filter((k) => unscored === 'mask' || group.rollouts[k]?.[0] !== null),
  }))
}

/** Whole groups cannot feed more ranks than there are groups, so then they are split, though `tokens` was asked for. */
export function computeRankSlice(batch: StoredBatch, { rank, ranks }: RankSlice): GroupSlice[] {
  const portions = listGroupSlices(batch)
  const isWhole = batch.balance === 'tokens' && portions.length >= ranks
  return isWhole ? assignWholeGroups(portions, rank, ranks) : splitEvenly(portions, rank, ranks)
}

export function countSequences(portions: GroupSlice[]): number {
  return portions.reduce((sum, { indices }) => sum + indices.length, 0)
}

/** Heaviest group first to the lightest rank; each rank's groups then in the order of the batch. */
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

/** Lengths in tokens; where one is missing in the batch, rollouts: the two do not add up. */
function computeGroupWeights(portions: GroupSlice[]): number[] {
  const lengths = portions.map(({ group, indices }) => indices.map((k) => group.rollouts[k]?.[2] ?? null))
  const known = lengths.every((of) => of.every((length) => length !== null))
  return lengths.map((of) => (known ? of.reduce<number>((sum, length) => sum + (length ?? 0), 0) : of.length))
}

/** Consecutive rollouts, the same number for each rank but for one more or less. */
function splitEvenly(portions: GroupSlice[], rank: number, ranks: number): GroupSlice[] {
  const total = countSequences(portions)
  const [from, to] = [Math.floor((total * rank) / ranks), Math.floor((total * (rank + 1)) / ranks)]
  let at = 0
  return portions.flatMap(({ group, indices }) => {
    const mine = indices.slice(Math.max(0, from - at), Math.max(0, to - at))
    at += indices.length
    return mine.length === 0 ? [] : [{ group, indices: mine }]
  })
}
