/** Says of a custom task what a reviewer would: whether its items, scores and levels are fit for training. */

import { existsSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Finding, fail, ok, warn } from '@reasoning-gym-server/contract/finding'
import type { Config } from '@reasoning-gym-server/contract/recipe'
import { z } from 'zod'
import type { CustomTask, EngineOutcome, TaskDefinition } from '../engine.ts'
import { checkFeedback } from './feedback-checks.ts'
import { type CheckContext, checkItems } from './item-checks.ts'
import { checkScorerFile, checkScores, type ScorerFiles } from './score-checks.ts'

interface CheckDeps extends Omit<CheckContext, 'task'> {
  scorerFiles: ScorerFiles
  /** Why the levels of the curriculum make no ladder, or null. */
  whyNotAdjustable: () => Promise<string | null>
}

/** Calls `onFinding` for each finding as soon as it is there. */
export async function checkTask(
  { scorerFiles, whyNotAdjustable, ...deps }: CheckDeps,
  task: string,
  definition: TaskDefinition,
  onFinding: (finding: Finding) => Promise<void>,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const report = async (...more: Finding[]) => {
    for (const finding of more) {
      findings.push(finding)
      await onFinding(finding)
    }
  }
  const context: CheckContext = { ...deps, task }
  const { custom, description } = definition
  if (!custom) return findings
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
  if (custom.scorer) await report(await checkScorerFile(context, custom, scorerFiles, made.items))
  if (custom.explains) await report(await checkFeedback(context, made.items))
  await report(checkLadder(context, custom, await whyNotAdjustable()))
  return findings
}

/** Checks the levels of a task's curriculum: each must make items that can be solved, and levels must not go back. */
function checkLadder({ defaults }: CheckContext, custom: CustomTask, reason: string | null): Finding {
  if (custom.ladder.length === 0 && custom.no_ladder_reason === 'it has no curriculum') {
    const advice = 'pass a curriculum class to register_dataset, so that runs can adjust the difficulty'
    return warn('ladder', 'it has no curriculum: all items have the same difficulty', advice)
  }
  const advice = 'every level of the curriculum must be valid, differ from the one before, and make items in time'
  if (reason !== null) return fail('ladder', reason, advice)
  const equal = custom.ladder.findIndex((config, k) => k > 0 && isDeepStrictEqual(config, custom.ladder[k - 1]))
  if (equal > 0) return warn('ladder', `levels ${equal - 1} and ${equal} have the same config`, advice)
  const turned = findTurningField(custom.ladder.map((config) => ({ ...defaults, ...config })))
  if (turned !== undefined) {
    const better = 'order the levels of each attribute from easiest to hardest'
    return warn('ladder', `${turned} goes up and down along the levels`, better)
  }
  return ok('ladder', `${custom.ladder.length} rungs, each with items that can be solved`)
}

/** A number that rises at one level and falls at another. */
function findTurningField(levels: Config[]): string | undefined {
  const isTurning = (field: string) => {
    const values = levels.map((config) => config[field]).filter((value) => typeof value === 'number')
    const steps = values.slice(1).map((value, k) => Math.sign(value - (values[k] ?? 0)))
    return steps.includes(1) && steps.includes(-1)
  }
  return Object.keys(levels[0] ?? {}).find(isTurning)
}

const TESTS_DEADLINE_MS = 120_000

/** As unit_tests.py returns it, unless the tests forge it. */
const TestReport = z.strictObject({
  tests: z.int().min(0),
  failed: z.int().min(0),
  failures: z.array(z.tuple([z.string(), z.string()])),
})

interface UnitTestRunner {
  runUnitTests(folder: string, pattern: string, deadlineMs: number): Promise<EngineOutcome | undefined>
}

/**
 * Runs the unit tests that lie beside custom tasks, in the sandbox in which the tasks run. Returns undefined for the name of a
 * module.
 */
export async function checkUnitTests(
  engine: UnitTestRunner,
  place: string,
  deadlineMs = TESTS_DEADLINE_MS,
): Promise<Finding | undefined> {
  if (!existsSync(place)) return undefined
  const isFolder = statSync(place).isDirectory()
  const [folder, pattern] = isFolder ? [place, 'test_*.py'] : [dirname(place), `test_${basename(place)}`]
  const outcome = await engine.runUnitTests(resolve(folder), pattern, deadlineMs)
  const report = outcome?.kind === 'value' ? TestReport.safeParse(outcome.value).data : undefined
  const advice = 'run the test, and correct the task or the test. Tests run in the sandbox of the tasks'
  if (!report) return fail('tests', `the tests cannot be run: ${explainNoReport(outcome)}`, advice)
  const { tests, failed, failures } = report
  if (failed > 0) return fail('tests', `${failed} of ${tests} tests fail: ${failures[0]?.join(': ') ?? ''}`, advice)
  if (tests > 0) return ok('tests', tests === 1 ? '1 unit test passes' : `${tests} unit tests pass`)
  return warn('tests', 'there are no unit tests', 'write some: "reasoning-gym-server task new my_task" shows how')
}

function explainNoReport(outcome: EngineOutcome | undefined): string {
  if (outcome?.kind === 'lost' && outcome.reason === 'crashed') return 'they end the Python process that runs them'
  return outcome === undefined || outcome.kind === 'value' ? 'they give no result' : outcome.detail
}
