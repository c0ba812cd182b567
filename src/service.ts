/** Puts the parts together, for a process that serves HTTP, does jobs, or both; and takes them apart again. */
import type { Logger } from 'pino'
import type { Services } from '../routes/context.ts'
import { BatchDelivery } from './batches/delivery.ts'
import type { ServerConfig } from './config.ts'
import { Dumps } from './dumps/dumps.ts'
import { Exports } from './dumps/exports/export.ts'
import { DumpFolder } from './dumps/folder.ts'
import { Ladders } from './engine/ladders.ts'
import { formatSandboxLayers, hasMissingLayers } from './engine/layers.ts'
import { PythonEngine } from './engine/python.ts'
import { ExternalCompletions } from './evals/brought.ts'
import { Collections } from './evals/collection-book.ts'
import { Evals } from './evals/eval-book.ts'
import { EvalItemCache } from './evals/eval-items.ts'
import { EvalSampleProcessor } from './evals/eval-sampler.ts'
import { CollectionSampleProcessor } from './evals/group-sampler.ts'
import { ModelClients } from './evals/models.ts'
import { EvalAggregator } from './evals/result-maker.ts'
import { Suites } from './evals/suites.ts'
import { Items } from './items/items.ts'
import { Grader } from './items/judge.ts'
import { ScorerThreadPool } from './items/scoring-threads.ts'
import { createPrefetchItemsProcessor } from './jobs/prepare-items.ts'
import { createGenerateSamplesProcessor } from './jobs/sample.ts'
import { createScoreGroupProcessor } from './jobs/score-group.ts'
import { type GroupSweeperDeps, startGroupSweeper } from './jobs/sweep.ts'
import { startDumpSweeper } from './jobs/sweep-dumps.ts'
import { startGenerationJobSweeper } from './jobs/sweep-samplings.ts'
import { createWriteDumpProcessor } from './jobs/write-dump.ts'
import { FormatErrorLogger } from './logs/format-faults.ts'
import { errorMessage, throttledLog } from './logs/seldom.ts'
import { Metrics } from './metrics/metrics.ts'
import type { ProcessRole } from './metrics/processes.ts'
import { buildEgressPolicy } from './models/reach.ts'
import { startConsumers } from './queue/consumer.ts'
import { FailedJobs } from './queue/failures.ts'
import { Producer } from './queue/producer.ts'
import { ItemQueue } from './runs/handout.ts'
import { RolloutSubmission } from './runs/intake.ts'
import { ItemPrefetcher } from './runs/preparation.ts'
import { Checkpoints } from './runs/restoring.ts'
import { Runs } from './runs/run-book.ts'
import { StepItems } from './runs/step-items.ts'
import { BatchRepository } from './store/batches.ts'
import { CheckpointRepository } from './store/checkpoints.ts'
import { GroupCompletionListener } from './store/completions.ts'
import { DumpRepository } from './store/dumps.ts'
import { listDurabilityIssues } from './store/durability.ts'
import { ItemEntryCache } from './store/entries.ts'
import { GroupRepository } from './store/groups.ts'
import { Idempotency } from './store/idempotency.ts'
import { createRedisKeys } from './store/keys.ts'
import { PositionRepository } from './store/positions.ts'
import { QuestionIndex } from './store/questions.ts'
import { connectForRequests, connectForWorkers, type RedisConfig, translateRedisError } from './store/redis.ts'
import { BufferCapacity } from './store/room.ts'
import { RunRepository } from './store/runs.ts'
import { SampleRepository } from './store/samples.ts'
import { GenerationJobRepository } from './store/samplings.ts'
import { ConcurrencyQuota } from './store/seats.ts'
import { StepItemRepository } from './store/steps.ts'
import { TaskStatisticsRecorder } from './store/task-figures.ts'
import { startHeartbeat } from './store/workers.ts'
import { TaskCatalog } from './tasks/catalogue.ts'

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
  | 'DUMPS_QUIET_S'
  | 'ENGINE_HOSTS'
  | 'SCORE_DEADLINE_MS'
  | 'MAKE_DEADLINE_MS'
  | 'ANSWER_MAX_CHARS'
  | 'WORKER_CONCURRENCY'
  | 'HOST'
  | 'MODEL_HOSTS'
  | 'MODEL_CONCURRENCY'
  | 'BUFFER_MAX_BYTES'
  | 'EVALS_AT_ONCE'
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
    workersPerPool: config.ENGINE_HOSTS,
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
    const found = await engine.tasks().catch(() => ({}))
    const about = { library: 'reasoning-gym', version: engine.version, tasks: Object.keys(found).length }
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
  const threads = new ScorerThreadPool(config.ENGINE_HOSTS, config.SCORE_DEADLINE_MS)
  const judge = new Grader({ engine, items, figures, threadPool: threads, maxAnswerChars: config.ANSWER_MAX_CHARS })
  const producer = new Producer(redis, keys.queuePrefix)
  const failures = new FailedJobs(redis, keys.queuePrefix)
  const completions = new GroupCompletionListener(connectForWorkers(place), keys.groupCompletionChannel)
  const onHintLost = (err: unknown) => log.warn({ err }, 'a job could not be added; the sweeper will add it')
  const dumps = new Dumps({
    repository: dumpBook,
    folder: new DumpFolder(config.DATA_DIR),
    producer,
    log,
    maxBytes: config.DUMPS_MAX_BYTES,
    idleFlushMs: config.DUMPS_QUIET_S * 1000,
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
    concurrencyQuota: new ConcurrencyQuota(redis, keys, config.EVALS_AT_ONCE),
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
      const processors = {
        'score-group': createScoreGroupProcessor({
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
        'write-dump': createWriteDumpProcessor({ dumps }),
        'prepare-items': createPrefetchItemsProcessor({ runs, preparation }),
        sample: createGenerateSamplesProcessor({
          generationJobs,
          samples,
          evalSampler,
          groupSampler,
          aggregator: evalAggregator,
        }),
      }
      const consumer = startConsumers(processors, {
        connection,
        prefix: keys.queuePrefix,
        concurrency: {
          'score-group': config.WORKER_CONCURRENCY,
          'write-dump': BACKGROUND_JOB_CONCURRENCY,
          'prepare-items': BACKGROUND_JOB_CONCURRENCY,
          sample: config.MODEL_CONCURRENCY,
        },
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
