/** Adapters: the wire formats of trainers. */
import type { Engine } from '../../engine/engine.ts'
import type { Grader } from '../../grading/grader.ts'
import type { Platform } from '../../platform/platform.ts'
import type { BackgroundWork } from '../../platform/queue/schedules.ts'
import type { BatchesFeature } from '../batches/index.ts'
import type { EvalsFeature } from '../evals/index.ts'
import type { ItemsFeature } from '../items/index.ts'
import type { RolloutsFeature } from '../rollouts/index.ts'
import { TaskFrontiers } from '../runs/curriculum/task-frontiers.ts'
import type { RunsFeature } from '../runs/index.ts'
import type { TasksFeature } from '../tasks/index.ts'
import { RunBatches } from './atropos/run-batches.ts'
import { Datasets } from './dataset/datasets.ts'
import { RowItems } from './dataset/row-items.ts'
import { McpServer } from './mcp/server.ts'
import { createMcpTools } from './mcp/tools.ts'
import { MeanRewardFallback } from './mean-rewards.ts'
import { createOpenGroups, type OpenGroupsFeature } from './open-groups/index.ts'
import { createOpenenv, type Openenv } from './openenv/index.ts'
import { createOrs, type OrsFeature } from './ors/index.ts'
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

export interface AdaptersFeature {
  samples: SampleScoring
  meanRewards: MeanRewardFallback
  datasets: Datasets
  usage: AdapterUsage
  /** Lists run names, sorted, without those that `isVisible` rejects. */
  listRunNames(isVisible: (name: string) => boolean): Promise<string[]>
  /** Creates the deliverer of runs' batches to trainers of Atropos, for a process that composes batches. */
  createRunBatches(batches: BatchesFeature): RunBatches
  ors: OrsFeature
  openGroups: OpenGroupsFeature
  openenv: Openenv
  mcp: McpServer
  createWork(): BackgroundWork
  close(): Promise<void>
}

export function createAdapters(platform: Platform, deps: AdaptersDeps): AdaptersFeature {
  const { redis, keys, recorder } = platform
  const { engine, grader } = deps
  const usage = new AdapterUsage(redis, keys)
  const openGroups = createOpenGroups(platform, deps)
  const samples = new SampleScoring({
    engine,
    grader,
    usage,
    recorder,
    items: deps.items.items,
    runs: deps.runs.runs,
    collector: openGroups.assembler,
  })
  return {
    samples,
    meanRewards: new MeanRewardFallback(redis, keys),
    datasets: new Datasets({
      tasks: deps.tasks.tasks,
      frontiers: new TaskFrontiers(deps.tasks.ladders, deps.tasks.cards),
      items: deps.items.items,
      rowItems: new RowItems(deps.items),
      runs: deps.runs.runs,
      suites: deps.evals.suites,
      usage,
    }),
    usage,
    listRunNames: (isVisible) => deps.runs.runs.listNames(isVisible),
    createRunBatches: (batches) => new RunBatches({ redis, keys, runs: deps.runs, batches }),
    ors: createOrs(platform, { ...deps, samples }),
    openGroups,
    openenv: createOpenenv(platform, deps, samples),
    mcp: new McpServer(createMcpTools({ items: deps.items.items, tasks: deps.tasks.tasks, samples })),
    createWork: () => openGroups.createWork(),
    async close() {
      await openGroups.close()
      await usage.close()
    },
  }
}
