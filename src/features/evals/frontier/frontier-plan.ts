/** Plans what a frontier eval measures: the tasks that have a frontier, and the reasons why others have none. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { FrontierSuite } from '@reasoning-gym-server/contract/eval'
import type { ScoringMode } from '@reasoning-gym-server/contract/verdict'
import type { Ladders } from '../../tasks/ladders.ts'
import type { TaskCards } from '../../tasks/task-cards.ts'
import type { EvalSpec } from '../generation-job-spec.ts'
import type { Suites } from '../suites.ts'

/**
 * Floor at which a task is left out: if guessing earns this much on every rung, twenty answers say nothing about the
 * model.
 */
const MAX_FLOOR = 0.9

interface FrontierPlanDeps {
  suites: Suites
  ladders: Ladders
  cards: TaskCards
}

/**
 * Builds the plan; the items are chosen later. Throws `invalid_request` if no task has a frontier, and `unknown_task`.
 */
export function planFrontier(
  suite: 'frontier' | FrontierSuite,
  scoring: ScoringMode,
  { suites, ladders, cards }: FrontierPlanDeps,
): Required<Pick<EvalSpec, 'suite' | 'frontier'>> {
  const { n, seed, ...choice } = suite === 'frontier' ? FrontierSuite.parse({ mode: 'frontier' }) : suite
  const explain = (task: string): string | undefined => {
    const rungs = ladders.rungs(task)
    if (rungs.length < 2) return 'its difficulty cannot be adjusted; measure it with another suite'
    const canBeGuessed = rungs.every(({ difficulty }) => cards.guessFloor(task, difficulty, scoring) >= MAX_FLOOR)
    return canBeGuessed ? `guessing earns nearly full marks on every rung under ${scoring} scoring` : undefined
  }
  const chosen = suites.listTasks(choice)
  const left_out: Record<string, string> = {}
  for (const task of chosen) {
    const reason = explain(task)
    if (reason !== undefined) left_out[task] = reason
  }
  const tasks = chosen.filter((task) => !(task in left_out))
  if (tasks.length === 0) {
    const reasons = Object.entries(left_out).map(([task, reason]) => `${task}: ${reason}`)
    throw new ServiceError('invalid_request', `None of these tasks has a frontier. ${reasons.join('. ')}`)
  }
  return {
    suite: { name: 'frontier', version: null, sha256: null, items: tasks.length * n },
    frontier: { tasks, items_per_task: n, seed, left_out },
  }
}
