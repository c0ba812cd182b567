/** Puts the parts together, for a process that serves HTTP, does jobs, or both; and takes them apart again. */
import type { Logger } from 'pino'
import type { Services } from '../../routes/context.ts'
import { PythonEngine } from '../engine/python-engine.ts'
import { formatSandboxLayers, hasMissingLayers } from '../engine/sandbox-layers.ts'
import { BatchDelivery } from '../features/batches/batch-delivery.ts'
import { BatchRepository } from '../features/batches/repository.ts'
import { DumpFolder } from '../features/dumps/dump-folder.ts'
import { Dumps } from '../features/dumps/dumps.ts'
import { Exports } from '../features/dumps/exports/export.ts'
import { writeDumpJob } from '../features/dumps/jobs/definitions.ts'
import { startDumpSweeper } from '../features/dumps/jobs/sweep-dumps.ts'
import { createWriteDumpProcessor } from '../features/dumps/jobs/write-dump.ts'
import { DumpRepository } from '../features/dumps/repository.ts'
import { CollectionSampleProcessor } from '../features/evals/collection-sample-processor.ts'
import { Collections } from '../features/evals/collections.ts'
import { ConcurrencyQuota } from '../features/evals/concurrency-quota.ts'
import { EvalAggregator } from '../features/evals/eval-aggregator.ts'
import { EvalItemCache } from '../features/evals/eval-item-cache.ts'
import { EvalSampleProcessor } from '../features/evals/eval-sample-processor.ts'
import { Evals } from '../features/evals/evals.ts'
import { ExternalCompletions } from '../features/evals/external-completions.ts'
import { GenerationJobRepository } from '../features/evals/generation-job-repository.ts'
import { generateSamplesJob } from '../features/evals/jobs/definitions.ts'
import { createGenerateSamplesProcessor } from '../features/evals/jobs/generate-samples.ts'
import { startGenerationJobSweeper } from '../features/evals/jobs/sweep-generation-jobs.ts'
import { buildEgressPolicy } from '../features/evals/model-client/egress-policy.ts'
import { ModelClients } from '../features/evals/model-clients.ts'
import { SampleRepository } from '../features/evals/sample-repository.ts'
import { Suites } from '../features/evals/suites.ts'
import { ItemEntryCache } from '../features/items/entry-cache.ts'
import { Items } from '../features/items/items.ts'
import { QuestionIndex } from '../features/items/question-index.ts'
import { Metrics } from '../features/operations/metrics.ts'
import type { ProcessRole } from '../features/operations/process-gauges.ts'
import { startHeartbeat } from '../features/operations/worker-heartbeats.ts'
import { BufferCapacity } from '../features/rollouts/buffer-capacity.ts'
import { FormatErrorLogger } from '../features/rollouts/format-error-logger.ts'
import { GroupCompletionListener } from '../features/rollouts/group-completion-listener.ts'
import { scoreGroupJob } from '../features/rollouts/jobs/definitions.ts'
import { type GroupSweeperDeps, startGroupSweeper } from '../features/rollouts/jobs/requeue-groups.ts'
import { createScoreGroupProcessor } from '../features/rollouts/jobs/score-group.ts'
import { createGroupKeys } from '../features/rollouts/keys.ts'
import { GroupRepository } from '../features/rollouts/repository.ts'
import { RolloutSubmission } from '../features/rollouts/rollout-submission.ts'
import { CheckpointRepository } from '../features/runs/checkpoint-repository.ts'
import { Checkpoints } from '../features/runs/checkpoints.ts'
import { ItemPrefetcher } from '../features/runs/item-prefetcher.ts'
import { ItemQueue } from '../features/runs/item-queue.ts'
import { prefetchItemsJob } from '../features/runs/jobs/definitions.ts'
import { createPrefetchItemsProcessor } from '../features/runs/jobs/prefetch-items.ts'
import { PositionRepository } from '../features/runs/position-repository.ts'
import { RunRepository } from '../features/runs/repository.ts'
import { Runs } from '../features/runs/runs.ts'
import { StepItemRepository } from '../features/runs/step-item-repository.ts'
import { StepItems } from '../features/runs/step-items.ts'
import { Ladders } from '../features/tasks/ladders.ts'
import { TaskCatalog } from '../features/tasks/task-catalog.ts'
import { TaskStatisticsRecorder } from '../features/tasks/task-statistics.ts'
import { Grader } from '../grading/grader.ts'
import { ScorerThreadPool } from '../grading/scorer-thread-pool.ts'
import type { ServerConfig } from '../platform/config.ts'
import { startConsumers } from '../platform/queue/consumer.ts'
import { FailedJobs } from '../platform/queue/failed-jobs.ts'
import { consumeJob } from '../platform/queue/job-definition.ts'
import { Producer } from '../platform/queue/producer.ts'
import { connectForRequests, connectForWorkers, type RedisConfig } from '../platform/redis/connect.ts'
import { listDurabilityIssues } from '../platform/redis/durability.ts'
import { Idempotency } from '../platform/redis/idempotency.ts'
import { createRedisKeys } from '../platform/redis/keys.ts'
import { translateRedisError } from '../platform/redis/redis-errors.ts'
import { errorMessage, throttledLog } from '../platform/throttled-log.ts'
import { ALL_JOBS } from './jobs.ts'

/** Items that a worker has made and dump files that it writes at once: they wait for processors and disks, not for Redis. */
const BACKGROUND_JOB_CONCURRENCY = 16

export interface ManagedServices extends Services {
  /** What the sweeper works on. */
  groupSweeperDeps: GroupSweeperDeps
  /** Takes jobs until the service closes. */
  startWorker(name: string): void
  close(): Promise<void>
}

export type ServicesConfig = Pick<
  ServerConfig,
  | 'DATA_DIR'
  | 'DUMPS_MAX_BYTES'
  | 'DUMP_IDLE_FLUSH_S'
  | 'PYTHON_WORKERS'
  | 'SCORE_DEADLINE_MS'
  | 'MAKE_DEADLINE_MS'
  | 'ANSWER_MAX_CHARS'
  | 'WORKER_CONCURRENCY'
  | 'HOST'
  | 'MODEL_HOSTS'
  | 'MODEL_CONCURRENCY'
  | 'BUFFER_MAX_BYTES'
  | 'MAX_ACTIVE_EVALS'
>

export function createServices(
  config: ServicesConfig,
  place: RedisConfig,
  python: string,
  log: Logger,
  role: ProcessRole = 'api',
): ManagedServices {
  const closers: (() => Promise<void> | void)[] = []
  const keys = createRedisKeys(place.prefix)
  const redis = connectForRequests(place)
  redis.once('ready', () => {
    void listDurabilityIssues(redis).then((gaps) => {
      for (const gap of gaps) log.warn(gap)
    })
  })
  const engine = new PythonEngine({
    pythonPath: python,
    workersPerPool: config.PYTHON_WORKERS,
    scoreDeadlineMs: config.SCORE_DEADLINE_MS,
    makeDeadlineMs: config.MAKE_DEADLINE_MS,
    onHealth: (health) => {
      log[health.ok ? 'info' : 'error'](health, health.ok ? 'the engine is up' : 'the engine is down')
      if (health.ok) void tellSetup()
    },
    onSandboxLayers: (kind, layers) =>
      log[hasMissingLayers(layers) ? 'warn' : 'info'](
        { kind, layers: formatSandboxLayers(layers) },
        'the walls around a host',
      ),
  })
  const tellSetup = async () => {
    await tasks.loadRegistry()
    const about = { library: 'reasoning-gym', version: engine.version, tasks: tasks.list().length }
    log.info({ ...about, data: config.DATA_DIR }, 'tasks found')
  }
  const ladders = new Ladders()
  const tasks = new TaskCatalog(engine, ladders)
  const figures = new TaskStatisticsRecorder(redis, keys)
  const storedRuns = new RunRepository(redis, keys)
  const positions = new PositionRepository(redis, keys)
  const dumpBook = new DumpRepository(redis, keys)
  const runs = new Runs(storedRuns, positions, tasks, dumpBook, engine)
  const groups = new GroupRepository(redis, keys)
  const generationJobs = new GenerationJobRepository(redis, keys)
  const samples = new SampleRepository(redis, keys)
  const metrics = new Metrics({
    redis,
    keys,
    engine,
    runs: storedRuns,
    groups,
    dumps: dumpBook,
    generationJobs,
    role,
    jobDefinitions: ALL_JOBS,
  })
  const { recorder: meters } = metrics
  const items = new Items({
    engine,
    entries: new ItemEntryCache(redis, keys),
    questions: new QuestionIndex(redis, keys),
    ladders,
    tasks,
    figures,
    metrics: meters,
  })
  const threads = new ScorerThreadPool(config.PYTHON_WORKERS, config.SCORE_DEADLINE_MS)
  const judge = new Grader({ engine, items, figures, threadPool: threads, maxAnswerChars: config.ANSWER_MAX_CHARS })
  const producer = new Producer(redis, keys.queuePrefix)
  const failures = new FailedJobs(redis, keys.queuePrefix, ALL_JOBS)
  const completions = new GroupCompletionListener(
    connectForWorkers(place),
    createGroupKeys(keys).groupCompletionChannel,
  )
  const onHintLost = (err: unknown) => log.warn({ err }, 'a job could not be added; the sweeper will add it')
  const dumps = new Dumps({
    repository: dumpBook,
    folder: new DumpFolder(config.DATA_DIR),
    producer,
    log,
    maxBytes: config.DUMPS_MAX_BYTES,
    idleFlushMs: config.DUMP_IDLE_FLUSH_S * 1000,
  })
  const room = new BufferCapacity(redis, keys, config.BUFFER_MAX_BYTES)
  const intake = new RolloutSubmission({
    runs,
    items,
    groups,
    producer,
    capacity: room,
    completions,
    onEnqueueError: onHintLost,
  })
  const batches = new BatchRepository(redis, keys)
  const delivery = new BatchDelivery({ runs, batches, completions })
  const steps = new StepItemRepository(redis, keys)
  const preparation = new ItemPrefetcher({ runs: storedRuns, positions, steps, items, tasks, log })
  const handout = new ItemQueue({ engine, runs: storedRuns, items, positions, prefetcher: preparation, producer })
  const checkpoints = new CheckpointRepository(redis, keys, storedRuns)
  const restoring = new Checkpoints(runs, checkpoints, engine.version)
  const stepItems = new StepItems({ engine, runs, steps, items, prefetcher: preparation })

  const suites = new Suites(items, tasks)
  const evalItems = new EvalItemCache(items)
  const evalAggregator = new EvalAggregator({ generationJobs, samples, items: evalItems, tasks })
  const reach = buildEgressPolicy(config)
  const evals = new Evals({
    generationJobs,
    suites,
    runs,
    producer,
    aggregator: evalAggregator,
    egressPolicy: reach,
    engineVersion: engine.version,
  })

  return {
    engine,
    redis,
    redisKeys: keys,
    tasks,
    ladders,
    taskStatistics: figures,
    items,
    grader: judge,
    runs,
    itemQueue: handout,
    stepItems,
    checkpoints: restoring,
    rolloutSubmission: intake,
    groups,
    dumps,
    exports: new Exports({ dumps, groups, items }),
    generationJobs,
    samples,
    concurrencyQuota: new ConcurrencyQuota(redis, keys, config.MAX_ACTIVE_EVALS),
    suites,
    evalAggregator,
    evals,
    externalCompletions: new ExternalCompletions({
      samples,
      items: evalItems,
      grader: judge,
      aggregator: evalAggregator,
    }),
    collections: new Collections({
      generationJobs,
      runs,
      producer,
      aggregator: evalAggregator,
      egressPolicy: reach,
    }),
    idempotency: new Idempotency(redis, keys),
    metrics,
    batches,
    groupNotifications: completions,
    failedJobs: failures,
    batchDelivery: delivery,
    groupSweeperDeps: { runs: storedRuns, groups, producer, engine },
    startWorker(name) {
      const connection = connectForWorkers(place)
      const faults = new FormatErrorLogger(log)
      const onError = throttledLog((err, untold) => {
        const away = translateRedisError(err) !== err // then its stack says nothing
        log.warn(
          { ...(away ? { reason: errorMessage(err) } : { err }), ...(untold && { untold }) },
          'a worker met an error',
        )
      })
      const modelClients = new ModelClients(generationJobs)
      const generation = { generationJobs, samples, items: evalItems, modelClients, aggregator: evalAggregator }
      const evalSampler = new EvalSampleProcessor({ ...generation, grader: judge })
      const groupSampler = new CollectionSampleProcessor({
        ...generation,
        runs,
        storedRuns,
        itemQueue: handout,
        rolloutSubmission: intake,
      })
      const consumers = [
        consumeJob(
          scoreGroupJob,
          config.WORKER_CONCURRENCY,
          createScoreGroupProcessor({
            engine,
            groups,
            items,
            grader: judge,
            runs,
            tasks,
            recorder: meters,
            dumps,
            itemQueue: handout,
            formatErrors: faults,
            log,
          }),
        ),
        consumeJob(writeDumpJob, BACKGROUND_JOB_CONCURRENCY, createWriteDumpProcessor({ dumps })),
        consumeJob(
          prefetchItemsJob,
          BACKGROUND_JOB_CONCURRENCY,
          createPrefetchItemsProcessor({ runs, prefetcher: preparation }),
        ),
        consumeJob(
          generateSamplesJob,
          config.MODEL_CONCURRENCY,
          createGenerateSamplesProcessor({
            generationJobs,
            samples,
            evalSampler,
            groupSampler,
            aggregator: evalAggregator,
          }),
        ),
      ]
      const consumer = startConsumers(ALL_JOBS, consumers, {
        connection,
        prefix: keys.queuePrefix,
        onError,
        onOutcome: (queue, outcome) => meters.increment('rgs_jobs_total', { queue, outcome }),
      })
      const sweeper = startGroupSweeper(this.groupSweeperDeps, onError)
      const dumpSweeper = startDumpSweeper({ dumps, runs: storedRuns }, onError)
      const samplingSweeper = startGenerationJobSweeper(
        { generationJobs, producer, models: modelClients, aggregator: evalAggregator },
        onError,
      )
      const heart = startHeartbeat(redis, keys, name)
      closers.push(async () => {
        sweeper.close()
        samplingSweeper.close()
        await consumer.close()
        await dumpSweeper.close()
        faults.close()
        modelClients.closeAll()
        await heart.close()
        connection.disconnect()
      })
    },
    async close() {
      for (const close of closers.toReversed()) await close()
      await figures.close()
      await metrics.close()
      completions.close()
      await producer.close()
      await failures.close()
      await threads.close()
      await engine.close()
      redis.disconnect()
    },
  }
}
