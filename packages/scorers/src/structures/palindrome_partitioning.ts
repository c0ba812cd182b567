/** 1 for the same set of partitions. Rule of `reasoning_gym/algorithmic/palindrome_partitioning.py`. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { loads } from '../python/json.ts'
import { equals, iterate, PySet, PyTuple, type PyValue } from '../python/values.ts'
import { defineScorer } from '../scorer.ts'

export const palindromePartitioning = defineScorer({
  metadata: z.looseObject({ solution: z.array(z.array(z.string())) }),
  score: (answer, entry) =>
    catchPythonError(() => (equals(toPartitionSet(loads(answer)), toPartitionSet(entry.metadata.solution)) ? 1 : 0), 0),
})

function toPartitionSet(lists: PyValue): PySet {
  return new PySet(iterate(lists).map((list) => new PyTuple(iterate(list))))
}
