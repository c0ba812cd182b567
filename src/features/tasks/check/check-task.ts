/** Says of an own task what a reviewer would: whether its items and scores are fit for training. */
import type { Config } from '@reasoning-gym-server/contract/recipe'
import { type Engine, getConfigDefaults, type TaskDefinition } from '../../../engine/engine.ts'
import type { ScorerThreadPool } from '../../../grading/scorer-thread-pool.ts'
import { ok, type TaskFinding, warn } from './finding.ts'
import { checkItems } from './item-checks.ts'
import { checkLadder } from './ladder-checks.ts'
import { checkScores } from './score-checks.ts'
import { checkScorerFile } from './scorer-check.ts'

export interface CheckContext {
  engine: Pick<Engine, 'generateItems' | 'score'>
  /** The same with other string hashes, which decide the order of sets. */
  otherEngine: Pick<Engine, 'generateItems'>
  task: string
  /** The config of the items that are checked. */
  defaults: Config
  makeDeadlineMs: number
}

interface CheckDeps extends Omit<CheckContext, 'task' | 'defaults'> {
  threadPool: ScorerThreadPool
}

/** Calls `onFinding` for each finding as soon as it is there. */
export async function checkTask(
  { threadPool, ...deps }: CheckDeps,
  task: string,
  definition: TaskDefinition,
  onFinding: (finding: TaskFinding) => Promise<void>,
): Promise<TaskFinding[]> {
  const findings: TaskFinding[] = []
  const report = async (...more: TaskFinding[]) => {
    for (const finding of more) {
      findings.push(finding)
      await onFinding(finding)
    }
  }
  const context: CheckContext = { ...deps, task, defaults: getConfigDefaults(definition) }
  const { own, description } = definition
  if (!own) return findings
  await report(
    description
      ? ok('about', description)
      : warn('about', 'the dataset class has no docstring', 'its first line is the description of the task'),
  )
  const made = await checkItems(context)
  await report(...made.findings)
  if (made.items.length === 0 || made.findings.some(({ name, is }) => name === 'texts' && is === 'fail'))
    return findings
  await report(...(await checkScores(context, made.items)))
  if (own.scorer) await report(await checkScorerFile(context, own, threadPool, made.items))
  await report(await checkLadder(context, own))
  return findings
}
