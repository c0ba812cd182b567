/**
 * Computes where the frontiers of a run start from the results of an eval. The start is fixed when the setting is
 * saved, so that the eval can be deleted afterward.
 */
import type { Caller } from '@reasoning-gym-server/contract/caller'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { ResolvedRun } from '../resolved-run.ts'
import type { TaskPlan } from '../sequence/sequence.ts'
import type { StoredFrontier } from './fold.ts'
import { createFrontier, estimateFrontier, observeGroup } from './frontier.ts'
import type { TaskFrontiers } from './task-frontiers.ts'

/** An item of a ladder and the mean score of its samples. */
export interface MeasuredItem {
  task: string
  difficulty: number
  score: number
  samples: number
}

/** Interface of evals for runs. Evals are a later feature. */
export interface RunEvals {
  /**
   * Throws `unknown_eval`, `forbidden`, and `invalid_request` if the eval is not finished or has measured no item of a
   * ladder.
   */
  measure(id: string, caller: Caller): Promise<{ scoring: RunSettings['scoring']; items: MeasuredItem[] }>
}

/** Plan for a task that the run does not name. */
const UNNAMED = { weight: 0, config: undefined, low: 0, high: 1, ownTargetAccuracy: undefined }

/** Computes the frontier of each measured task that has a ladder. */
export function computeStart(
  run: Pick<ResolvedRun, 'settings' | 'explicitSettings'>,
  { scoring, items }: Awaited<ReturnType<RunEvals['measure']>>,
  plans: readonly TaskPlan[],
  frontiers: TaskFrontiers,
): Map<string, StoredFrontier> {
  const start = new Map<string, StoredFrontier>()
  for (const [task, measured] of Map.groupBy(items, (item) => item.task)) {
    const frontier = frontiers.get(run, plans.find((plan) => plan.task === task) ?? { task, ...UNNAMED })
    if (!frontier) continue
    const weights = measured.reduce((before, { difficulty, score, samples }) => {
      return observeGroup(before, { score, rollouts: samples, rung: frontiers.rungAt(task, difficulty, scoring) })
    }, createFrontier())
    const { level, rung } = frontier.chooseLevel(weights, undefined)
    start.set(task, {
      weights,
      state: { level, scores: [], frontier: { ...estimateFrontier(weights), floor: rung.floor } },
    })
  }
  return start
}
