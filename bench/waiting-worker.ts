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
import type { Judge } from '../src/items/judge.ts'
import { scoreGroup } from '../src/jobs/score-group.ts'
import { FormatFaults } from '../src/logs/format-faults.ts'
import { Meters } from '../src/metrics/meters.ts'
import { consume } from '../src/queue/consumer.ts'
import { Producer } from '../src/queue/producer.ts'
import type { Handout } from '../src/runs/handout.ts'
import { RunBook } from '../src/runs/run-book.ts'
import { DumpBook } from '../src/store/dumps.ts'
import { Groups } from '../src/store/groups.ts'
import { keysUnder } from '../src/store/keys.ts'
import { Positions } from '../src/store/positions.ts'
import { connectForRequests, connectForWork } from '../src/store/redis.ts'
import { Runs } from '../src/store/runs.ts'
import { Tally } from '../src/store/sums.ts'
import { TaskCatalogue } from '../src/tasks/catalogue.ts'
import type { Verdict } from '../src/words/verdict.ts'
import { AT_ONCE, WAIT_MS } from './waiting-engine.ts'

/** Its multiples lie evenly between whole numbers, however many are taken (the golden ratio): so do the waits around their mean. */
const STEP = (Math.sqrt(5) - 1) / 2

const [url = '', prefix = ''] = process.argv.slice(2)
const place = { url, prefix }
const keys = keysUnder(prefix)
const redis = connectForRequests(place)
const log = pino({ level: 'silent' })
// Of the engine nothing is asked but what tasks there are.
const facts = { category: 'arithmetic', config_schema: { type: 'object', properties: {} } }
const engine = {
  version: '0',
  tasks: async () => ({ chain_sum: facts }),
  health: () => ({ ok: true }),
} as unknown as Engine
const tasks = new TaskCatalogue(engine, new Ladders())
const stored = new Runs(redis, keys)
const dumpBook = new DumpBook(redis, keys)
const runs = new RunBook(stored, new Positions(redis, keys), tasks, dumpBook, engine)
const groups = new Groups(redis, keys)
const meters = new Meters({ tally: () => new Tally() }) // nobody reads them
const producer = new Producer(redis, keys.jobs)
const dumps = new Dumps({ book: dumpBook, folder: new DumpFolder('.'), producer, log, maxBytes: 0, quietMs: 1000 })
const scored: Verdict = { status: 'scored', reward: 1, score: 1, answer: '1', fault: null, penalty: 0 }
let waits = 0
const judge = {
  async verdicts(_recipe: unknown, given: unknown[]): Promise<Verdict[]> {
    await sleep(WAIT_MS * (0.5 + ((waits++ * STEP) % 1))) // not all in step
    return given.map(() => scored)
  },
} as unknown as Judge // the one method that the job calls
const items = { open: async () => undefined } as unknown as Items // likewise
const handout = { prepare: async () => undefined } as unknown as Handout // likewise
const nothing = async () => undefined
const faults = new FormatFaults(log)
consume(
  {
    'score-group': scoreGroup({ engine, groups, items, judge, runs, tasks, meters, dumps, handout, faults, log }),
    'write-dump': nothing,
    'prepare-items': nothing,
    sample: nothing,
  },
  {
    connection: connectForWork(place),
    prefix: keys.jobs,
    concurrency: { 'score-group': AT_ONCE, 'write-dump': 1, 'prepare-items': 1, sample: 1 },
    onError: (error) => console.error(error),
  },
)
process.send?.('listening')
