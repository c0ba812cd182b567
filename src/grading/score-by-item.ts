/** Scores the completions of one call, which may be of many items: those of one item together, because they share its entry. */
import { EventLoopBudget } from '../platform/event-loop-budget.ts'

const budget = new EventLoopBudget()

/** Returns the results in the order of `members`. Rejects as soon as the scoring of one item does. */
export async function scoreByItem<Member, Result>(
  members: readonly Member[],
  keyOf: (member: Member) => string | undefined,
  scoreItem: (members: readonly Member[]) => Promise<Result[]>,
): Promise<Result[]> {
  const [first] = members
  if (first === undefined) return []
  const firstKey = keyOf(first)
  if (members.every((member) => keyOf(member) === firstKey)) return scoreItem(members) // nearly every call
  const items = Map.groupBy(members.entries(), ([, member]) => keyOf(member))
  const results: Result[] = []
  const placed = Array.from(items.values(), async (item) => {
    const scored = await budget.run(() => scoreItem(item.map(([, member]) => member)))
    for (const [k, result] of scored.entries()) {
      const [position = 0] = item[k] ?? [] // one result for each member
      results[position] = result
    }
  })
  await Promise.all(placed)
  return results
}
