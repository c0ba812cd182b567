/** 1 for the same groups in any order, 0.01 for any other list of lists. Rule of `reasoning_gym/algorithmic/group_anagrams.py`. */
import { z } from 'zod'
import { loads } from '../python/json.ts'
import { caught } from '../python/raised.ts'
import { sorted } from '../python/sorted.ts'
import { equals, iterate, type PyValue } from '../python/values.ts'
import { defineScorer } from '../scorer.ts'

export const groupAnagrams = defineScorer({
  metadata: z.looseObject({ solution: z.array(z.array(z.string())) }),
  score: (answer, entry) =>
    caught(() => (equals(sortedGroups(loads(answer)), sortedGroups(entry.metadata.solution)) ? 1 : 0.01), 0),
})

/** Groups with the same first word keep their order. */
function sortedGroups(groups: PyValue): PyValue[][] {
  const each = iterate(groups).map((group) => sorted(iterate(group), (word) => word))
  return sorted(each, (group) => group[0] ?? '')
}
