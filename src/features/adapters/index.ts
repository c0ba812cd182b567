/** Adapters: the wire formats of trainers. */
import type { Engine } from '../../engine/engine.ts'
import type { Grader } from '../../grading/grader.ts'
import type { Platform } from '../../platform/platform.ts'
import type { EvalsFeature } from '../evals/index.ts'
import type { ItemsFeature } from '../items/index.ts'
import type { RolloutsFeature } from '../rollouts/index.ts'
import { TaskFrontiers } from '../runs/curriculum/task-frontiers.ts'
import type { RunsFeature } from '../runs/index.ts'
import type { TasksFeature } from '../tasks/index.ts'
import { Datasets } from './dataset/datasets.ts'
import { RowItems } from './dataset/row-items.ts'
import { createOpenGroups } from './open-groups/index.ts'
import { RolloutTurns } from './rollout-turns.ts'
import { SampleScoring } from './sample-scoring.ts'
import { AdapterUsage } from './usage.ts'

interface AdaptersDeps {
  engine: Engine
  grader: Grader
  tasks: TasksFeature
  items: ItemsFeature
  runs: RunsFeature
  rollouts: RolloutsFeature
  evals: EvalsFeature
}

export type AdaptersFeature = ReturnType<typeof createAdapters>

export function createAdapters(platform: Platform, deps: AdaptersDeps) {
  const { redis, keys, recorder } = platform
  const { engine, grader } = deps
  const { items } = deps.items
  const { runs, taskStatistics } = deps.runs
  const { tasks, ladders, cards } = deps.tasks
  const { suites } = deps.evals
  const usage = new AdapterUsage(redis, keys)
  const openGroups = createOpenGroups(platform, deps)
  const samples = new SampleScoring({
    engine,
    grader,
    usage,
    recorder,
    items,
    runs,
    taskStatistics,
    collector: openGroups.assembler,
    turns: new RolloutTurns(redis, keys),
  })
  return {
    samples,
    datasets: new Datasets({
      tasks,
      frontiers: new TaskFrontiers(ladders, cards),
      items,
      rowItems: new RowItems(deps.items),
      runs,
      suites,
      usage,
    }),
    usage,
    openGroups,
    createWork: openGroups.createWork,
    async close() {
      await openGroups.close()
      await usage.close()
    },
  }
}
