/**
 * Chooses the groups of a batch of an Atropos store. The rules are those of the original, without the queues that stall
 * it: a batch has exactly `batch_size` sequences if any groups sum to it, oldest first.
 */

/** A group in the queue. */
export interface QueuedGroup {
  id: string
  sequences: number
  environment: number | null
  acceptedAt: number
}

export interface CompositionRules {
  batchSize: number
  /** Minimum number of sequences, keyed by environment. */
  minimums: ReadonlyMap<number, number>
  now: number
}

/**
 * Longest time for which the oldest group is passed over. If no exact sum includes it by then, the batch is the
 * shortest run of oldest groups that has `batch_size` sequences.
 */
const PATIENCE_MS = 30_000

/** Returns the chosen groups in queue order, or undefined if there is no batch yet. */
export function chooseBatch(
  queue: readonly QueuedGroup[],
  { batchSize, minimums, now }: CompositionRules,
): QueuedGroup[] | undefined {
  if (sumSequences(queue) < batchSize) return undefined
  const reserved = reserveMinimums(queue, minimums, batchSize)
  if (!reserved) return undefined
  const rest = queue.filter((group) => !reserved.has(group))
  const missing = batchSize - sumSequences([...reserved])
  const chosen = new Set([...reserved, ...(chooseRest(rest, missing, now) ?? [])])
  return sumSequences([...chosen]) < batchSize ? undefined : queue.filter((group) => chosen.has(group))
}

/** Returns the oldest groups of each environment that has a minimum, or undefined if one of them cannot reach it. */
function reserveMinimums(
  queue: readonly QueuedGroup[],
  minimums: ReadonlyMap<number, number>,
  batchSize: number,
): Set<QueuedGroup> | undefined {
  const reserved = new Set<QueuedGroup>()
  const wanted = [...minimums.values()].reduce((sum, minimum) => sum + minimum, 0)
  const scale = Math.min(1, batchSize / wanted)
  let total = 0
  for (const [environment, minimum] of minimums) {
    let missing = Math.floor(minimum * scale)
    for (const group of queue) {
      if (missing <= 0) break
      if (group.environment !== environment || total + group.sequences > batchSize) continue
      reserved.add(group)
      missing -= group.sequences
      total += group.sequences
    }
    if (missing > 0 && total < batchSize) return undefined
  }
  return reserved
}

/** Returns groups of exactly `target` sequences if there are any, and more once the oldest has waited too long. */
function chooseRest(queue: readonly QueuedGroup[], target: number, now: number): readonly QueuedGroup[] | undefined {
  const [oldest, ...younger] = queue
  if (target <= 0 || !oldest) return []
  if (now - oldest.acceptedAt < PATIENCE_MS) return findExactSum(queue, target)
  const others = oldest.sequences <= target && findExactSum(younger, target - oldest.sequences)
  return others ? [oldest, ...others] : takeOldest(queue, target)
}

function takeOldest(queue: readonly QueuedGroup[], target: number): readonly QueuedGroup[] {
  let sequences = 0
  const end = queue.findIndex((group) => {
    sequences += group.sequences
    return sequences >= target
  })
  return queue.slice(0, end + 1)
}

/** Finds the exact sum in the shortest run of oldest groups that has one. */
export function findExactSum(queue: readonly QueuedGroup[], target: number): QueuedGroup[] | undefined {
  return addGreedily(queue, target) ?? searchSums(queue, target)
}

function addGreedily(queue: readonly QueuedGroup[], target: number): QueuedGroup[] | undefined {
  const chosen: QueuedGroup[] = []
  let missing = target
  for (const group of queue) {
    if (missing === 0) break
    if (group.sequences > missing) continue
    chosen.push(group)
    missing -= group.sequences
  }
  return missing === 0 ? chosen : undefined
}

/** Limit on the groups that are tried, because a search takes groups × sequences steps. */
const MAX_SEARCHED_GROUPS = 1024

function searchSums(queue: readonly QueuedGroup[], target: number): QueuedGroup[] | undefined {
  const last = new Uint16Array(target + 1) // for each sum the group that was added last, counted from 1; 0: not reached
  for (let k = 0; k < Math.min(queue.length, MAX_SEARCHED_GROUPS) && last[target] === 0; k++) {
    const size = queue[k]?.sequences ?? 0
    for (let sum = target; sum >= size; sum--) {
      const isReached = sum === size || last[sum - size] !== 0
      if (isReached && last[sum] === 0) last[sum] = k + 1
    }
  }
  const chosen: QueuedGroup[] = []
  for (let sum = target; sum > 0; ) {
    const group = queue[(last[sum] ?? 0) - 1]
    if (!group) return undefined
    chosen.unshift(group)
    sum -= group.sequences
  }
  return chosen
}

export function sumSequences(groups: readonly QueuedGroup[]): number {
  return groups.reduce((sum, { sequences }) => sum + sequences, 0)
}
