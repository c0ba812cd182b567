/**
 * main: a worker whose judge waits and takes no processor; all else of it is as it is in the server. Arguments: Redis and
 * its prefix. Only W9 runs it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import type { Verdict } from '../src/contract/verdict.ts'
import type { Engine } from '../src/engine/engine.ts'
import { DumpFolder } from '../src/features/dumps/dump-folder.ts'
import { Dumps } from '../src/features/dumps/dumps.ts'
import { DumpRepository } from '../src/features/dumps/repository.ts'
import type { Items } from '../src/features/items/items.ts'
import { FormatErrorLogger } from '../src/features/rollouts/format-error-logger.ts'
import { scoreGroupJob } from '../src/features/rollouts/jobs/definitions.ts'
import { createScoreGroupProcessor } from '../src/features/rollouts/jobs/score-group.ts'
import { GroupRepository } from '../src/features/rollouts/repository.ts'
import type { ItemQueue } from '../src/features/runs/item-queue.ts'
import { PositionRepository } from '../src/features/runs/position-repository.ts'
import { RunRepository } from '../src/features/runs/repository.ts'
import { Runs } from '../src/features/runs/runs.ts'
import { Ladders } from '../src/features/tasks/ladders.ts'
import { TaskCatalog } from '../src/features/tasks/task-catalog.ts'
import type { Grader } from '../src/grading/grader.ts'
import { MetricsRecorder } from '../src/platform/metrics/metrics-recorder.ts'
import { SharedCounter } from '../src/platform/metrics/shared-counters.ts'
import { startConsumers } from '../src/platform/queue/consumer.ts'
import { consumeJob } from '../src/platform/queue/job-definition.ts'
import { Producer } from '../src/platform/queue/producer.ts'
import { connectForRequests, connectForWorkers } from '../src/platform/redis/connect.ts'
import { createRedisKeys } from '../src/platform/redis/keys.ts'
import { MEAN_WAIT_MS, WORKER_CONCURRENCY } from './simulated-scoring.ts'

/** Its multiples lie evenly between whole numbers, however many are taken (the golden ratio): so do the waits around their mean. */
const GOLDEN_RATIO_STEP = (Math.sqrt(5) - 1) / 2

const [url = '', prefix = ''] = process.argv.slice(2)
const redisAddress = { url, prefix }
const keys = createRedisKeys(prefix)
const redis = connectForRequests(redisAddress)
const log = pino({ level: 'silent' })
// Of the engine nothing is asked but what tasks there are.
const taskDefinition = { category: 'arithmetic', config_schema: { type: 'object', properties: {} } }
const engine = {
  version: '0',
  tasks: async () => ({ chain_sum: taskDefinition }),
  health: () => ({ ok: true }),
} as unknown as Engine
const tasks = new TaskCatalog(engine, new Ladders())
const runStore = new RunRepository(redis, keys)
const dumpBook = new DumpRepository(redis, keys)
const runs = new Runs(runStore, new PositionRepository(redis, keys), tasks, dumpBook, engine)
const groups = new GroupRepository(redis, keys)
const meters = new MetricsRecorder({ getOrCreate: () => new SharedCounter() }) // nobody reads them
const producer = new Producer(redis, keys.queuePrefix)
const dumps = new Dumps({
  repository: dumpBook,
  folder: new DumpFolder('.'),
  producer,
  log,
  maxBytes: 0,
  idleFlushMs: 1000,
})
const scoredVerdict: Verdict = { status: 'scored', reward: 1, score: 1, answer: '1', fault: null, penalty: 0 }
let waitCount = 0
const grader = {
  async grade(_recipe: unknown, given: unknown[]): Promise<Verdict[]> {
    await sleep(MEAN_WAIT_MS * (0.5 + ((waitCount++ * GOLDEN_RATIO_STEP) % 1))) // not all in step
    return given.map(() => scoredVerdict)
  },
} as unknown as Grader // the one method that the job calls
const items = { resolveItemId: async () => undefined } as unknown as Items // likewise
const itemQueue = { schedulePrefetch: async () => undefined } as unknown as ItemQueue // likewise
const formatErrors = new FormatErrorLogger(log)
startConsumers(
  [scoreGroupJob],
  [
    consumeJob(
      scoreGroupJob,
      WORKER_CONCURRENCY,
      createScoreGroupProcessor({
        engine,
        groups,
        items,
        grader,
        runs,
        tasks,
        recorder: meters,
        dumps,
        itemQueue,
        formatErrors,
        log,
      }),
    ),
  ],
  {
    connection: connectForWorkers(redisAddress),
    prefix: keys.queuePrefix,
    onError: (error) => console.error(error),
  },
)
process.send?.('listening')
