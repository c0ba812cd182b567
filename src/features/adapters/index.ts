/** Adapters: the wire formats of trainers. */
import type { Engine } from '../../engine/engine.ts'
import type { Grader } from '../../grading/grader.ts'
import type { Platform } from '../../platform/platform.ts'
import type { BackgroundWork } from '../../platform/queue/schedules.ts'
import { throttledLog } from '../../platform/throttled-log.ts'
import type { EvalsFeature } from '../evals/index.ts'
import type { ItemsFeature } from '../items/index.ts'
import type { RolloutsFeature } from '../rollouts/index.ts'
import { TaskFrontiers } from '../runs/curriculum/task-frontiers.ts'
import type { RunsFeature } from '../runs/index.ts'
import type { TasksFeature } from '../tasks/index.ts'
import { Datasets } from './dataset/datasets.ts'
import { RowItems } from './dataset/row-items.ts'
import {
  ClosedGroupSubmission,
  type SweepAges,
  sweepOpenGroups,
  sweepOpenGroupsSchedule,
} from './open-groups/closed-groups.ts'
import { GroupAssembler } from './open-groups/group-assembler.ts'
import { createOpenGroupKeys, OPEN_GROUP_LIMITS, OpenGroupRepository } from './open-groups/repository.ts'
import { SampleWriter } from './open-groups/sample-writer.ts'
import type { RewardWire } from './reward-route.ts'
import { openrlhfWire } from './reward-wires/openrlhf.ts'
import { samplesWire } from './reward-wires/samples.ts'
import { slimeWire } from './reward-wires/slime.ts'
import { RolloutTurns } from './rollout-turns.ts'
import { SampleScoring } from './sample-scoring.ts'

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
  const openGroups = createOpenGroups(platform, deps)
  const samples = new SampleScoring({
    engine,
    grader,
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
      engine,
      tasks,
      frontiers: new TaskFrontiers(ladders, cards),
      items,
      rowItems: new RowItems(deps.items),
      runs,
      suites,
    }),
    openGroups,
    createWork: openGroups.createWork,
    close: () => openGroups.close(),
  }
}

/** Share of BUFFER_MAX_BYTES that the open groups of one run may use. */
const BUFFER_SHARE = 0.5

/** Sample scoring adds to open groups, and the workers sweep them. */
function createOpenGroups(
  { redis, keys, recorder, log, config }: Platform,
  { runs, rollouts }: { runs: RunsFeature; rollouts: RolloutsFeature },
) {
  const bytes = Math.min(OPEN_GROUP_LIMITS.bytes, config.BUFFER_MAX_BYTES * BUFFER_SHARE)
  runs.epochKeyListers.push(createOpenGroupKeys(keys).listEpochKeys)
  const repository = new OpenGroupRepository(redis, keys, { ...OPEN_GROUP_LIMITS, bytes })
  const submission = new ClosedGroupSubmission({ repository, submission: rollouts.submission, recorder, log })
  const writer = new SampleWriter({
    repository,
    runs: runs.runs,
    onClosed: (run, ids) => void submission.submitAll(run, ids),
    onError: throttledLog((err) => log.warn({ err }, 'samples could not be counted yet; the server retries')),
  })
  const sweep = (ages?: SweepAges) =>
    sweepOpenGroups({ runs: runs.runs, index: runs.index, repository, submission, log }, ages)
  return {
    assembler: new GroupAssembler({ repository, writer, recorder }),
    sweep,
    createWork: (): BackgroundWork => ({
      consumers: [],
      scheduledTasks: [{ ...sweepOpenGroupsSchedule, run: () => sweep() }],
    }),
    async close() {
      await writer.close()
      await submission.close()
    },
  }
}

/** The wires of reward URLs. A new trainer is a file with its wire, and a name here. */
export const REWARD_WIRES: readonly RewardWire<object, object>[] = [samplesWire, openrlhfWire, slimeWire]
