/** The rule of codeio where its outcome is certain without Python; elsewhere the library scores. */
import { dumpsLength, JsonDecodeError, loads } from '../python/json.ts'
import { PyError } from '../python/numbers.ts'
import { codePointLength, strip } from '../python/text.ts'
import { equals, type PyValue } from '../python/values.ts'
import type { PartialScorer } from '../scorer.ts'
import { buildTree, type LabeledTree } from './json-tree.ts'
import { measureTreeDistance } from './tree-distance.ts'

interface Oracle {
  text: string
  length: number
  value: PyValue
  tree: LabeledTree
  dumpsLength: number
}

/** What any JSON object earns. */
const FORM_SCORE = 0.01
/** However much text is around the object. */
const LEAST_MAX_SCORE = 0.2

/** Rule of `reasoning_gym/code/codeio.py`. */
export const codeio: PartialScorer = (entry) => {
  const oracle = leaveToLibraryOnError(() => readOracle(strip(entry.answer ?? '')))
  return (answer) => oracle && leaveToLibraryOnError(() => scoreAnswer(strip(answer), oracle))
}

/** Undefined where the library may raise, and where the comparison would take long. */
function leaveToLibraryOnError<T>(attempt: () => T): T | undefined {
  try {
    return attempt()
  } catch (error) {
    if (error instanceof PyError) return undefined
    throw error
  }
}

function readOracle(text: string): Oracle {
  const value = loads(text)
  return { text, length: codePointLength(text), value, tree: buildTree(value), dumpsLength: dumpsLength(value) }
}

function scoreAnswer(answer: string, oracle: Oracle): number {
  if (answer === oracle.text) return 1
  const [first, last] = [answer.indexOf('{'), answer.lastIndexOf('}')]
  if (first < 0 || last < 0) return 0
  const value = tryLoads(answer.slice(first, last + 1))
  if (value === undefined) return answer.includes(oracle.text) ? oracle.length / codePointLength(answer) : 0
  const extra = codePointLength(answer.slice(0, first)) + codePointLength(answer.slice(last + 1))
  const maxScore = Math.max(oracle.length / (oracle.length + 0.5 * extra), LEAST_MAX_SCORE)
  return equals(value, oracle.value) ? maxScore : Math.max(measureSimilarity(value, oracle) * maxScore, FORM_SCORE)
}

/** Undefined where Python raises JSONDecodeError, the only exception that the library catches. */
function tryLoads(text: string): PyValue | undefined {
  try {
    return loads(text)
  } catch (error) {
    if (error instanceof JsonDecodeError) return undefined
    throw error
  }
}

/** 0 from the distance on that is a fifth of the longer text. */
function measureSimilarity(value: PyValue, oracle: Oracle): number {
  const limit = 0.2 * Math.max(dumpsLength(value), oracle.dumpsLength)
  return Math.max(0, 1 - measureTreeDistance(buildTree(value), oracle.tree, limit) / limit)
}
