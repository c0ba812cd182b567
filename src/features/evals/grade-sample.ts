/** Grades the output of one sample of an eval. */
import type { Grader, GradingRules } from '../../grading/grader.ts'
import { unscoredVerdict } from '../../grading/verdict.ts'
import { type ItemWithEntry, isMakeFailure } from '../items/items.ts'
import { hashQuestion } from '../items/question-hash.ts'
import {
  buildStoredVerdict,
  type SampleOutput,
  type StoredSampleVerdict,
  toSampleSubmission,
} from './samples/output.ts'
import type { SuiteItem } from './suites.ts'

interface SampleToGrade {
  output: SampleOutput
  item: ItemWithEntry
  suiteItem: SuiteItem
  rules: GradingRules
}

/** Grades the output. The verdict includes the hash of the question if the suite does not have it. */
export async function gradeSample(
  grader: Grader,
  { output, item, suiteItem, rules }: SampleToGrade,
): Promise<StoredSampleVerdict> {
  const [verdict] = await grader.grade(item.recipe, [toSampleSubmission(output)], rules, true)
  if (!verdict) throw new RangeError('the grader returned no verdict for a submission')
  return {
    ...buildStoredVerdict(output, verdict),
    ...(suiteItem.questionHash === undefined && { question_hash: hashQuestion(item.question) }),
  }
}

/**
 * Returns the verdict for a sample whose item the library cannot make, so that a bad seed costs the eval one sample and
 * not all of them. Returns undefined for any other error, and for a frozen suite, whose items were made before.
 */
export function buildUnmakeableVerdict(error: unknown, { questionHash }: SuiteItem): StoredSampleVerdict | undefined {
  if (!isMakeFailure(error) || questionHash !== undefined) return undefined
  const verdict = unscoredVerdict('generation_failed', error.message)
  return {
    ...buildStoredVerdict({ kind: 'failed', detail: error.message }, verdict),
    question_hash: hashQuestion(''),
  }
}
