/** Evals and collections: measures models on suites, and completes a run's items with a model behind an API. */

import type { Engine } from '../../engine/engine.ts'
import type { Grader } from '../../grading/grader.ts'
import type { Platform } from '../../platform/platform.ts'
import type { BackgroundWork } from '../../platform/queue/background-work.ts'
import { consumeJob } from '../../platform/queue/job-definition.ts'
import type { ItemsFeature } from '../items/index.ts'
import type { RolloutsFeature } from '../rollouts/index.ts'
import type { RunsFeature } from '../runs/index.ts'
import type { TasksFeature } from '../tasks/index.ts'
import { ConcurrencyQuota } from './active-job-quota.ts'
import { EvalAggregator } from './aggregator.ts'
import { DuelReferee } from './duels/duel-referee.ts'
import { EvalItemCache } from './eval-item-cache.ts'
import { EvalSampleProcessor } from './eval-sample-processor.ts'
import { Evals } from './evals.ts'
import { ExternalCompletions } from './external-completions.ts'
import { createGenerateSamplesProcessor } from './generate-samples.ts'
import { GenerationJobs } from './generation-jobs.ts'
import { startClosingIdleModels } from './jobs/close-idle-models.ts'
import { generateSamplesJob, sweepGenerationJobsSchedule } from './jobs/definitions.ts'
import { sweepGenerationJobs } from './jobs.ts'
import { Collections } from './kinds/collection.ts'
import { CollectionSampleProcessor } from './kinds/collection-samples.ts'
import { Duels } from './kinds/duel.ts'
import { FrontierItems } from './kinds/frontier.ts'
import { ModelClients } from './models/clients.ts'
import { buildEgressPolicy } from './models/egress.ts'
import { GenerationJobRepository } from './repository.ts'
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

export interface EvalsFeature {
  evals: Evals
  collections: Collections
  duels: Duels
  suites: Suites
  generationJobs: GenerationJobRepository
  createWork(): BackgroundWork
}

export function createEvals(platform: Platform, deps: EvalsFeatureDeps): EvalsFeature {
  const { redis, keys, producer, config, idempotency } = platform
  const { engine, grader } = deps
  const { runs, itemQueue, repository: storedRuns } = deps.runs
  const { tasks, ladders, cards } = deps.tasks
  const generationJobs = new GenerationJobRepository(redis, keys)
  const samples = new SampleRepository(redis, keys)
  const suites = new Suites(deps.items.items, tasks)
  const items = new EvalItemCache(deps.items.items)
  const aggregator = new EvalAggregator({ generationJobs, samples, items, tasks, cards })
  const egressPolicy = buildEgressPolicy(config)
  const quota = new ConcurrencyQuota(redis, keys, config.MAX_ACTIVE_EVALS)
  const jobs = new GenerationJobs({ repository: generationJobs, aggregator, producer, idempotency, quota })
  const specBuilder = {
    ...{ suites, runs, ladders, cards, egressPolicy },
    engineVersion: engine.version,
  }
  const evals = new Evals({
    ...specBuilder,
    jobs,
    samples,
    items,
    aggregator,
    cards,
    externalCompletions: new ExternalCompletions({ samples, items, grader, aggregator }),
  })
  return {
    evals,
    collections: new Collections({ jobs, runs, egressPolicy }),
    duels: new Duels({ ...specBuilder, jobs, samples, aggregator }),
    suites,
    generationJobs,
    createWork() {
      const modelClients = new ModelClients(generationJobs)
      const shared = { generationJobs, samples, items, modelClients, aggregator }
      const rolloutSubmission = deps.rollouts.submission
      const collections = new CollectionSampleProcessor({ ...shared, runs, storedRuns, itemQueue, rolloutSubmission })
      return {
        consumers: [
          consumeJob(
            generateSamplesJob,
            config.MODEL_CONCURRENCY,
            createGenerateSamplesProcessor({
              generationJobs,
              samples,
              evalSampleProcessor: new EvalSampleProcessor({
                ...shared,
                grader,
                referee: new DuelReferee(samples),
                frontierItems: new FrontierItems({ samples, ladders, cards, suites }),
              }),
              collectionSampleProcessor: collections,
              aggregator,
            }),
          ),
        ],
        scheduledTasks: [
          {
            ...sweepGenerationJobsSchedule,
            run: () => sweepGenerationJobs({ generationJobs, producer, aggregator }),
          },
        ],
        startLocalTimer: (onError) => startClosingIdleModels({ generationJobs, modelClients }, onError),
        close: () => modelClients.closeAll(),
      }
    },
  }
}
