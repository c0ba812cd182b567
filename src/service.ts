/** Puts the parts together, for a process that serves HTTP, does jobs, or both; and takes them apart again. */
import type { Logger } from 'pino'
import type { Services } from '../routes/context.ts'
import { Delivery } from './batches/delivery.ts'
import type { Config } from './config.ts'
import { Dumps } from './dumps/dumps.ts'
import { Exports } from './dumps/exports/export.ts'
import { DumpFolder } from './dumps/folder.ts'
import { Ladders } from './engine/ladders.ts'
import { hasGaps, spoken } from './engine/layers.ts'
import { PythonEngine } from './engine/python.ts'
import { Brought } from './evals/brought.ts'
import { CollectionBook } from './evals/collection-book.ts'
import { EvalBook } from './evals/eval-book.ts'
import { EvalItems } from './evals/eval-items.ts'
import { EvalSampler } from './evals/eval-sampler.ts'
import { GroupSampler } from './evals/group-sampler.ts'
import { Models } from './evals/models.ts'
import { ResultMaker } from './evals/result-maker.ts'
import { Suites } from './evals/suites.ts'
import { Items } from './items/items.ts'
import { Judge } from './items/judge.ts'
import { ScoringThreads } from './items/scoring-threads.ts'
import { prepareItems } from './jobs/prepare-items.ts'
import { sample } from './jobs/sample.ts'
import { scoreGroup } from './jobs/score-group.ts'
import { type Sweeping, startSweeper } from './jobs/sweep.ts'
import { startDumpSweeper } from './jobs/sweep-dumps.ts'
import { startSamplingSweeper } from './jobs/sweep-samplings.ts'
import { writeDump } from './jobs/write-dump.ts'
import { FormatFaults } from './logs/format-faults.ts'
import { messageOf, seldom } from './logs/seldom.ts'
import { Metrics } from './metrics/metrics.ts'
import type { Role } from './metrics/processes.ts'
import { reachOf } from './models/reach.ts'
import { consume } from './queue/consumer.ts'
import { Failures } from './queue/failures.ts'
import { Producer } from './queue/producer.ts'
import { Handout } from './runs/handout.ts'
import { Intake } from './runs/intake.ts'
import { Preparation } from './runs/preparation.ts'
import { Restoring } from './runs/restoring.ts'
import { RunBook } from './runs/run-book.ts'
import { StepItems } from './runs/step-items.ts'
import { Batches } from './store/batches.ts'
import { Checkpoints } from './store/checkpoints.ts'
import { Completions } from './store/completions.ts'
import { DumpBook } from './store/dumps.ts'
import { durabilityGaps } from './store/durability.ts'
import { Entries } from './store/entries.ts'
import { Groups } from './store/groups.ts'
import { Idempotency } from './store/idempotency.ts'
import { keysUnder } from './store/keys.ts'
import { Positions } from './store/positions.ts'
import { Questions } from './store/questions.ts'
import { connectForRequests, connectForWork, type RedisPlace, redisFault } from './store/redis.ts'
import { Room } from './store/room.ts'
import { Runs } from './store/runs.ts'
import { Samples } from './store/samples.ts'
import { Samplings } from './store/samplings.ts'
import { Seats } from './store/seats.ts'
import { Steps } from './store/steps.ts'
import { TaskFigures } from './store/task-figures.ts'
import { beat } from './store/workers.ts'
import { TaskCatalogue } from './tasks/catalogue.ts'

/** Items that a worker has made and dump files that it writes at once: they wait for processors and disks, not for Redis. */
const BESIDE_SCORING = 16

export interface Service extends Services {
  /** What the sweeper works on. */
  sweeping: Sweeping
  /** Takes jobs until the service closes. */
  startWorker(name: string): void
  close(): Promise<void>
}

export type ServiceConfig = Pick<
  Config,
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

export function openService(
  config: ServiceConfig,
  place: RedisPlace,
  python: string,
  log: Logger,
  role: Role = 'api',
): Service {
  const closers: (() => Promise<void> | void)[] = []
  const keys = keysUnder(place.prefix)
  const redis = connectForRequests(place)
  redis.once('ready', () => {
    void durabilityGaps(redis).then((gaps) => {
      for (const gap of gaps) log.warn(gap)
    })
  })
  const engine = new PythonEngine({
    python,
    hosts: config.ENGINE_HOSTS,
    scoreDeadlineMs: config.SCORE_DEADLINE_MS,
    makeDeadlineMs: config.MAKE_DEADLINE_MS,
    onHealth: (health) => {
      log[health.ok ? 'info' : 'error'](health, health.ok ? 'the engine is up' : 'the engine is down')
      if (health.ok) void tellSetup()
    },
    onLayers: (kind, layers) =>
      log[hasGaps(layers) ? 'warn' : 'info']({ kind, layers: spoken(layers) }, 'the walls around a host'),
  })
  const tellSetup = async () => {
    const found = await engine.tasks().catch(() => ({}))
    const about = { library: 'reasoning-gym', version: engine.version, tasks: Object.keys(found).length }
    log.info({ ...about, data: config.DATA_DIR }, 'tasks found')
  }
  const ladders = new Ladders()
  const tasks = new TaskCatalogue(engine, ladders)
  const figures = new TaskFigures(redis, keys)
  const storedRuns = new Runs(redis, keys)
  const positions = new Positions(redis, keys)
  const dumpBook = new DumpBook(redis, keys)
  const runs = new RunBook(storedRuns, positions, tasks, dumpBook, engine)
  const groups = new Groups(redis, keys)
  const samplings = new Samplings(redis, keys)
  const samples = new Samples(redis, keys)
  const metrics = new Metrics({ redis, keys, engine, runs: storedRuns, groups, dumps: dumpBook, samplings, role })
  const { meters } = metrics
  const items = new Items({
    engine,
    entries: new Entries(redis, keys),
    questions: new Questions(redis, keys),
    ladders,
    tasks,
    figures,
    meters,
  })
  const threads = new ScoringThreads(config.ENGINE_HOSTS, config.SCORE_DEADLINE_MS)
  const judge = new Judge({ engine, items, figures, threads, answerMaxChars: config.ANSWER_MAX_CHARS })
  const producer = new Producer(redis, keys.jobs)
  const failures = new Failures(redis, keys.jobs)
  const completions = new Completions(connectForWork(place), keys.completions)
  const onHintLost = (err: unknown) => log.warn({ err }, 'a job could not be added; the sweeper will add it')
  const dumps = new Dumps({
    book: dumpBook,
    folder: new DumpFolder(config.DATA_DIR),
    producer,
    log,
    maxBytes: config.DUMPS_MAX_BYTES,
    quietMs: config.DUMPS_QUIET_S * 1000,
  })
  const room = new Room(redis, keys, config.BUFFER_MAX_BYTES)
  const intake = new Intake({ runs, items, groups, producer, room, completions, onHintLost })
  const batches = new Batches(redis, keys)
  const delivery = new Delivery({ runs, batches, completions })
  const steps = new Steps(redis, keys)
  const preparation = new Preparation({ runs: storedRuns, positions, steps, items, tasks, log })
  const handout = new Handout({ engine, runs: storedRuns, items, positions, preparation, producer })
  const checkpoints = new Checkpoints(redis, keys, storedRuns)
  const restoring = new Restoring(runs, checkpoints, engine.version)
  const stepItems = new StepItems({ engine, runs, steps, items, preparation })

  const suites = new Suites(items, tasks)
  const evalItems = new EvalItems(items)
  const results = new ResultMaker({ samplings, samples, items: evalItems, tasks })
  const reach = reachOf(config)
  const evals = new EvalBook({ samplings, suites, runs, producer, results, reach, engineVersion: engine.version })

  return {
    engine,
    redis,
    keys,
    tasks,
    ladders,
    figures,
    items,
    judge,
    runs,
    handout,
    stepItems,
    restoring,
    intake,
    groups,
    dumps,
    exports: new Exports({ dumps, groups, items }),
    samplings,
    samples,
    seats: new Seats(redis, keys, config.EVALS_AT_ONCE),
    suites,
    results,
    evals,
    brought: new Brought({ samples, items: evalItems, judge, results }),
    collections: new CollectionBook({ samplings, runs, producer, results, reach }),
    idempotency: new Idempotency(redis, keys),
    metrics,
    batches,
    completions,
    failures,
    delivery,
    sweeping: { runs: storedRuns, groups, producer, engine },
    startWorker(name) {
      const connection = connectForWork(place)
      const faults = new FormatFaults(log)
      const onError = seldom((err, untold) => {
        const away = redisFault(err) !== err // then its stack says nothing
        log.warn(
          { ...(away ? { reason: messageOf(err) } : { err }), ...(untold && { untold }) },
          'a worker met an error',
        )
      })
      const models = new Models(samplings)
      const sampling = { samplings, samples, items: evalItems, models, results }
      const evalSampler = new EvalSampler({ ...sampling, judge })
      const groupSampler = new GroupSampler({ ...sampling, runs, storedRuns, handout, intake })
      const processors = {
        'score-group': scoreGroup({ engine, groups, items, judge, runs, tasks, meters, dumps, handout, faults, log }),
        'write-dump': writeDump({ dumps }),
        'prepare-items': prepareItems({ runs, preparation }),
        sample: sample({ samplings, samples, evalSampler, groupSampler, results }),
      }
      const consumer = consume(processors, {
        connection,
        prefix: keys.jobs,
        concurrency: {
          'score-group': config.WORKER_CONCURRENCY,
          'write-dump': BESIDE_SCORING,
          'prepare-items': BESIDE_SCORING,
          sample: config.MODEL_CONCURRENCY,
        },
        onError,
        onOutcome: (queue, outcome) => meters.count('rgs_jobs_total', { queue, outcome }),
      })
      const sweeper = startSweeper(this.sweeping, onError)
      const dumpSweeper = startDumpSweeper({ dumps, runs: storedRuns }, onError)
      const samplingSweeper = startSamplingSweeper({ samplings, producer, models, results }, onError)
      const heart = beat(redis, keys, name)
      closers.push(async () => {
        sweeper.close()
        samplingSweeper.close()
        await consumer.close()
        await dumpSweeper.close()
        faults.close()
        models.closeAll()
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
