/** Rescores: what the kept groups of a run would have earned under other rules. */
import type { Grader } from '../../grading/grader.ts'
import type { Platform } from '../../platform/platform.ts'
import { consumeJob } from '../../platform/queue/job-definition.ts'
import type { BackgroundWork } from '../../platform/queue/schedules.ts'
import type { ItemsFeature } from '../items/index.ts'
import type { RolloutsFeature } from '../rollouts/index.ts'
import type { RunsFeature } from '../runs/index.ts'
import type { TasksFeature } from '../tasks/index.ts'
import { createRescoreProcessor } from './process-rescore.ts'
import { RescoreRepository } from './repository.ts'
import { Rescores, rescoreJob } from './rescores.ts'

interface RescoresFeatureDeps {
  grader: Grader
  tasks: TasksFeature
  items: ItemsFeature
  runs: RunsFeature
  rollouts: RolloutsFeature
}

export type RescoresFeature = ReturnType<typeof createRescores>

export function createRescores(platform: Platform, deps: RescoresFeatureDeps) {
  const { redis, keys, producer, idempotency, log } = platform
  const { runs, rules, frontier, epochKeyListers } = deps.runs
  const { tasks } = deps.tasks
  const repository = new RescoreRepository(redis, keys)
  epochKeyListers.push(repository.listEpochKeys)
  return {
    rescores: new Rescores({ runs, rules, tasks, repository, producer, idempotency }),
    createWork(): BackgroundWork {
      const { groups } = deps.rollouts
      const { items } = deps.items
      const process = createRescoreProcessor({
        repository,
        runs,
        groups,
        items,
        grader: deps.grader,
        tasks,
        frontier,
        log,
      })
      return { consumers: [consumeJob(rescoreJob, 1, process)], scheduledTasks: [] }
    },
  }
}
