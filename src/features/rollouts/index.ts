/** Rollouts: groups of completions are accepted, scored by workers and kept. */
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import type { Engine } from '../../engine/engine.ts'
import type { Grader } from '../../grading/grader.ts'
import type { Platform } from '../../platform/platform.ts'
import { consumeJob } from '../../platform/queue/job-definition.ts'
import type { BackgroundWork } from '../../platform/queue/schedules.ts'
import type { ItemsFeature } from '../items/index.ts'
import type { RunsFeature } from '../runs/index.ts'
import type { TasksFeature } from '../tasks/index.ts'
import { AuditScoring } from './audit-scoring.ts'
import {
  createCompletionEffects,
  createCompletionRecording,
  FormatFaultLogger,
  type GroupDumpWriter,
} from './completion-effects.ts'
import { CompletionRepository } from './completion-repository.ts'
import { OutcomeBuilder } from './group-counters.ts'
import { createGroupGrading } from './group-grading.ts'
import { HardenedScores } from './hardened-scores.ts'
import { addOwnJobs, createGroupQueue, requeueGroupsSchedule, requeueLostGroups, scoreGroupJob } from './jobs.ts'
import { createGroupKeys } from './records.ts'
import { GroupRepository } from './repository.ts'
import { getRetainedGroup, listRetainedGroups, type RetainedGroupsQuery } from './retained-groups.ts'
import { RolloutScoring } from './rollout-scoring.ts'
import { RolloutSubmission } from './rollout-submission.ts'
import { createScoreGroupProcessor } from './score-group.ts'
import { ServerBuffer } from './server-buffer.ts'

interface RolloutsDeps {
  engine: Engine
  grader: Grader
  tasks: TasksFeature
  items: ItemsFeature
  runs: RunsFeature
}

export type RolloutsFeature = ReturnType<typeof createRollouts>

export function createRollouts(platform: Platform, deps: RolloutsDeps) {
  const { redis, keys, producer, notifications, recorder, tracing, log, config } = platform
  const { engine, grader } = deps
  const { tasks, cards } = deps.tasks
  const { items } = deps.items
  const { runs, repository, index, itemQueue, frontier } = deps.runs
  deps.runs.epochKeyListers.push(createGroupKeys(keys).listEpochKeys)
  const groups = new GroupRepository(platform)
  const retained = { groups, items, hardenedScores: new HardenedScores({ groups, items, grader }) }
  const submission = new RolloutSubmission({
    runs,
    items,
    groups,
    grader,
    enqueue: createGroupQueue(producer),
    capacity: new ServerBuffer(redis, keys, config.BUFFER_MAX_BYTES),
    notifications,
    tracing,
    onEnqueueError: (err) =>
      log.warn({ err, queue: scoreGroupJob.name }, 'a job could not be queued; the sweeper retries'),
  })
  return {
    submission,
    scoring: new RolloutScoring({ engine, items, grader, recorder }),
    /** Lists the last groups of a run. Throws `unknown_run` and `run_recreated`. */
    listRetained: async (runName: string, query: RetainedGroupsQuery, condition?: RunCondition) =>
      listRetainedGroups(retained, await runs.require(runName, condition), query),
    /**
     * Returns a group with whole texts, and with its expected answer if `reveal` is true. Throws `unknown_run`,
     * `unknown_group` and `run_recreated`.
     */
    requireRetained: async (runName: string, query: { group: string; reveal: boolean }, condition?: RunCondition) =>
      getRetainedGroup(retained, await runs.require(runName, condition), query),
    groups,
    createWork(dumps: GroupDumpWriter): BackgroundWork {
      const formatFaults = new FormatFaultLogger(log)
      const audits = new AuditScoring({ grader })
      const scoreGroup = createScoreGroupProcessor({
        engine,
        groups,
        runs,
        tracing,
        requeueAlone: (failed) => addOwnJobs(producer, failed),
        gradeQueued: createGroupGrading({ items, grader, log }),
        recordCompletion: createCompletionRecording({
          completions: new CompletionRepository(platform),
          items,
          tasks,
          dumps,
          frontier,
          outcomes: new OutcomeBuilder(cards, log),
          audits,
        }),
        afterCompletion: createCompletionEffects({ recorder, audits, formatFaults, itemQueue, frontier, log }),
      })
      return {
        consumers: [consumeJob(scoreGroupJob, config.WORKER_CONCURRENCY, scoreGroup)],
        scheduledTasks: [
          {
            ...requeueGroupsSchedule,
            run: () => requeueLostGroups({ index, runs: repository, groups, producer, engine, log }),
          },
        ],
        async close() {
          await audits.close()
          formatFaults.close()
        },
      }
    },
  }
}
