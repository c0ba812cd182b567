/**
 * main: a worker whose judge waits and takes no processor; all else of it is as it is in the server. Arguments: Redis and
 * its prefix. Only W9 runs it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { Dumps } from '../src/dumps/dumps.ts'
import { DumpFolder } from '../src/dumps/folder.ts'
import type { Engine } from '../src/engine/engine.ts'
import { Ladders } from '../src/engine/ladders.ts'
import type { Items } from '../src/items/items.ts'
import type { Grader } from '../src/items/judge.ts'
import { createScoreGroupProcessor } from '../src/jobs/score-group.ts'
import { FormatErrorLogger } from '../src/logs/format-faults.ts'
import { MetricsRecorder } from '../src/metrics/meters.ts'
import { startConsumers } from '../src/queue/consumer.ts'
import { Producer } from '../src/queue/producer.ts'
import type { ItemQueue } from '../src/runs/handout.ts'
import { Runs } from '../src/runs/run-book.ts'
import { DumpRepository } from '../src/store/dumps.ts'
import { GroupRepository } from '../src/store/groups.ts'
import { createRedisKeys } from '../src/store/keys.ts'
import { PositionRepository } from '../src/store/positions.ts'
import { connectForRequests, connectForWorkers } from '../src/store/redis.ts'
import { RunRepository } from '../src/store/runs.ts'
import { SharedCounter } from '../src/store/sums.ts'
import { TaskCatalog } from '../src/tasks/catalogue.ts'
import type { Verdict } from '../src/words/verdict.ts'
import { MEAN_WAIT_MS, WORKER_CONCURRENCY } from './waiting-engine.ts'

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
const judge = {
  async verdicts(_recipe: unknown, given: unknown[]): Promise<Verdict[]> {
    await sleep(MEAN_WAIT_MS * (0.5 + ((waitCount++ * GOLDEN_RATIO_STEP) % 1))) // not all in step
    return given.map(() => scoredVerdict)
  },
} as unknown as Grader // the one method that the job calls
const items = { open: async () => undefined } as unknown as Items // likewise
const handout = { prepare: async () => undefined } as unknown as ItemQueue // likewise
const noop = async () => undefined
const faults = new FormatErrorLogger(log)
startConsumers(
  {
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
    'write-dump': noop,
    'prepare-items': noop,
    sample: noop,
  },
  {
    connection: connectForWorkers(redisAddress),
    prefix: keys.queuePrefix,
    concurrency: { 'score-group': WORKER_CONCURRENCY, 'write-dump': 1, 'prepare-items': 1, sample: 1 },
    onError: (error) => console.error(error),
  },
)
process.send?.('listening')
