/** Evals and collections: measures models on suites, and completes a run's items with a model behind an API. */
import type { Engine } from '../../engine/engine.ts'
import type { Grader } from '../../grading/grader.ts'
import type { Platform } from '../../platform/platform.ts'
import { consumeJob } from '../../platform/queue/job-definition.ts'
import type { BackgroundWork } from '../../platform/queue/schedules.ts'
import type { ItemsFeature } from '../items/index.ts'
import type { RolloutsFeature } from '../rollouts/index.ts'
import type { RunsFeature } from '../runs/index.ts'
import type { TasksFeature } from '../tasks/index.ts'
import { ActiveJobQuota } from './active-job-quota.ts'
import { JobAggregator } from './aggregator.ts'
import { generateSamplesJob } from './concurrency.ts'
import { Evals, ExternalCompletions } from './evals.ts'
import { createGenerateSamplesProcessor } from './generate-samples.ts'
import { GenerationJobs } from './generation-jobs.ts'
import { type EvalParts, ListedItems } from './job-items.ts'
import { startClosingIdleModels, sweepGenerationJobs, sweepGenerationJobsSchedule } from './jobs.ts'
import { createCollectionKind } from './kinds/collection.ts'
import { CollectionSampleProcessor } from './kinds/collection-samples.ts'
import { createEvalKind } from './kinds/eval.ts'
import { EvalSampleProcessor } from './kinds/eval-samples.ts'
import { FrontierItems, isFrontierJob } from './kinds/frontier.ts'
import { AnswerMemory } from './models/answer-memory.ts'
import { ModelClients } from './models/clients.ts'
import { buildEgressPolicy } from './models/egress-policy.ts'
import { GenerationJobRepository } from './repository.ts'
import { OutputSpace } from './samples/output.ts'
import { SampleRepository } from './samples/repository.ts'
import { Suites } from './suites.ts'

interface EvalsFeatureDeps {
  engine: Pick<Engine, 'version'>
  grader: Grader
  tasks: TasksFeature
  items: ItemsFeature
  runs: RunsFeature
  rollouts: RolloutsFeature
}

export type EvalsFeature = ReturnType<typeof createEvals>

export function createEvals(platform: Platform, deps: EvalsFeatureDeps) {
  const { redis, keys, producer, config, idempotency, notifications, log } = platform
  const { engine, grader } = deps
  const { runs, itemQueue, repository: storedRuns } = deps.runs
  const { tasks, ladders, cards } = deps.tasks
  const generationJobs = new GenerationJobRepository(redis, keys)
  const samples = new SampleRepository(redis, keys)
  const outputSpace = new OutputSpace(generationJobs, config.EVAL_OUTPUTS_MAX_BYTES)
  const suites = new Suites(deps.items.items, tasks)
  const parts: EvalParts = {
    openItems: (job) => (isFrontierJob(job) ? new FrontierItems(job, parts) : new ListedItems(job, samples)),
    samples,
    suites,
    tasks,
    ladders,
    cards,
    egressPolicy: buildEgressPolicy(config),
    engineVersion: engine.version,
  }
  const kinds = {
    eval: createEvalKind(parts),
    collection: createCollectionKind(parts),
  }
  const aggregator = new JobAggregator({ generationJobs, kinds })
  const quota = new ActiveJobQuota(redis, keys, config.MAX_ACTIVE_EVALS)
  const jobDeps = { repository: generationJobs, samples, runs, aggregator, producer, idempotency, notifications, quota }
  const externalCompletions = new ExternalCompletions({ ...parts, grader, outputSpace, aggregator })
  return {
    evals: new Evals({ ...parts, jobs: new GenerationJobs(kinds.eval, jobDeps), aggregator, externalCompletions }),
    collections: new GenerationJobs(kinds.collection, jobDeps),
    suites,
    generationJobs,
    createWork(): BackgroundWork {
      const modelClients = new ModelClients(generationJobs)
      const answerMemory = new AnswerMemory()
      const evalSampleProcessor = new EvalSampleProcessor({
        ...parts,
        grader,
        modelClients,
        answerMemory,
        outputSpace,
        aggregator,
      })
      const collectionSampleProcessor = new CollectionSampleProcessor({
        generationJobs,
        samples,
        suites,
        modelClients,
        answerMemory,
        runs,
        storedRuns,
        itemQueue,
        rolloutSubmission: deps.rollouts.submission,
        aggregator,
      })
      return {
        consumers: [
          consumeJob(
            generateSamplesJob,
            config.MODEL_CONCURRENCY,
            createGenerateSamplesProcessor({
              generationJobs,
              samples,
              evalSampleProcessor,
              collectionSampleProcessor,
              aggregator,
            }),
          ),
        ],
        scheduledTasks: [
          {
            ...sweepGenerationJobsSchedule,
            run: () => sweepGenerationJobs({ generationJobs, producer, aggregator, log }),
          },
        ],
        startLocalTimer: (onError) => startClosingIdleModels({ generationJobs, modelClients }, onError),
        close: () => modelClients.closeAll(),
      }
    },
  }
}
