/** Holds a scorer in TypeScript or JavaScript against the Python scorer of the task, on the same answers. */

import type { DatasetEntry } from '@reasoning-gym-server/scorers/scorer'
import type { OwnTaskDefinition } from '../../../engine/engine.ts'
import type { EngineOutcome } from '../../../engine/outcome.ts'
import type { ScorerThreadPool } from '../../../grading/scorer-thread-pool.ts'
import type { ScorerResult } from '../../../grading/verdict.ts'
import type { CheckContext } from './check-task.ts'
import { fail, ok, quote, type TaskFinding } from './finding.ts'
import type { MadeItem } from './item-checks.ts'
import { generateMutants, seededRandom } from './mutants.ts'

export interface ScorerDifference {
  seed: number
  answer: string
  python: string
  file: string
}

export interface ScorerComparison {
  answers: number
  differences: ScorerDifference[]
}

/** `perItem` answers to each item: right, almost right, and garbage. Equal seeds compare the same. */
export async function compareScorers(
  { engine, task, defaults }: Pick<CheckContext, 'engine' | 'task' | 'defaults'>,
  own: OwnTaskDefinition,
  threadPool: ScorerThreadPool,
  items: MadeItem[],
  perItem: number,
  seed: number,
): Promise<ScorerComparison> {
  const random = seededRandom(seed)
  const comparison: ScorerComparison = { answers: 0, differences: [] }
  if (!own.scorer) return comparison
  for (const [k, { position, entry }] of items.entries()) {
    const texts = [...new Set(generateMutants(entry.answer ?? '', items[k - 1]?.entry.answer ?? '42', perItem, random))]
    const spec = { task, file: own.scorer, codeHash: own.code_hash, entry: entry as DatasetEntry, config: defaults }
    const [inPython, inFile] = await Promise.all([
      engine.score(task, {}, position[0], entry, texts),
      Promise.all(texts.map((text) => threadPool.score(spec, text))),
    ])
    for (const [n, answer] of texts.entries()) {
      comparison.answers++
      const [python, file] = [describePython(inPython[n]), describeFile(inFile[n])]
      if (python !== file) comparison.differences.push({ seed: position[0], answer, python, file })
    }
  }
  return comparison
}

export async function checkScorerFile(
  context: CheckContext,
  own: OwnTaskDefinition,
  threadPool: ScorerThreadPool,
  items: MadeItem[],
): Promise<TaskFinding> {
  const { answers, differences } = await compareScorers(context, own, threadPool, items.slice(0, 40), 25, 1)
  const [first] = differences
  if (!first) return ok('scorer', `${own.scorer} agrees with score_answer on ${answers} answers`)
  const { seed, answer, python, file } = first
  const found = `${differences.length} of ${answers} answers differ from score_answer, such as ${quote(answer)} for seed ${seed}: ${file} instead of ${python}`
  return fail('scorer', found, `correct ${own.scorer}, or remove it: the server then scores in Python`)
}

function describePython(outcome: EngineOutcome | undefined): string {
  if (outcome?.kind === 'value') return String(outcome.value)
  return outcome?.kind === 'raised' ? 'raised' : (outcome?.detail ?? 'nothing')
}

function describeFile(result: ScorerResult | undefined): string {
  if (result?.kind === 'score') return String(result.score)
  return result?.kind === 'raised' ? 'raised' : (result?.detail ?? 'nothing')
}
