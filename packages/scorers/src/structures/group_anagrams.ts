/** 1 for the same groups in any order, 0.01 for any other list of lists. Rule of `reasoning_gym/algorithmic/group_anagrams.py`. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { loads } from '../python/json.ts'
import { sortByKey } from '../python/sorted.ts'
import { equals, iterate, type PyValue } from '../python/values.ts'
import { defineScorer } from '../scorer.ts'

export const groupAnagrams = defineScorer({
  metadata: z.looseObject({ solution: z.array(z.array(z.string())) }),
  score: (answer, entry) =>
    catchPythonError(() => (equals(sortGroups(loads(answer)), sortGroups(entry.metadata.solution)) ? 1 : 0.01), 0),
})

/** Groups with the same first word keep their order. */
function sortGroups(groups: PyValue): PyValue[][] {
  const each = iterate(groups).map((group) => sortByKey(iterate(group), (word) => word))
  return sortByKey(each, (group) => group[0] ?? '')
}
