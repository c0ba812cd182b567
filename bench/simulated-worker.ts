/**
 * main: a worker whose grader waits and takes no processor; everything else is as in the server. Arguments: the URL of
 * Redis and the key prefix. Only W9 runs it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { Verdict } from '@reasoning-gym-server/contract/verdict'
import { pino } from 'pino'
import type { Engine } from '../src/engine/engine.ts'
import { createItems } from '../src/features/items/index.ts'
import { AuditScoring } from '../src/features/rollouts/audit-scoring.ts'
import {
  createCompletionEffects,
  createCompletionRecording,
  FormatFaultLogger,
} from '../src/features/rollouts/completion-effects.ts'
import { CompletionRepository } from '../src/features/rollouts/completion-repository.ts'
import { OutcomeBuilder } from '../src/features/rollouts/group-counters.ts'
import { createGroupGrading } from '../src/features/rollouts/group-grading.ts'
import { scoreGroupJob } from '../src/features/rollouts/jobs.ts'
import { GroupRepository } from '../src/features/rollouts/repository.ts'
import { createScoreGroupProcessor } from '../src/features/rollouts/score-group.ts'
import { createRuns } from '../src/features/runs/index.ts'
import { createTasks } from '../src/features/tasks/index.ts'
import type { Grader } from '../src/grading/grader.ts'
import { readConfig } from '../src/platform/environment.ts'
import { createPlatform } from '../src/platform/platform.ts'
import { startConsumers } from '../src/platform/queue/consumer.ts'
import { consumeJob } from '../src/platform/queue/job-definition.ts'
import { NO_REPLICATION } from '../src/platform/redis/replication.ts'
import { MEAN_WAIT_MS, SIMULATED_TASK, WORKER_CONCURRENCY } from './simulated-scoring.ts'

/** Its multiples lie evenly between whole numbers, however many are taken (the golden ratio): so do the waits around their mean. */
const GOLDEN_RATIO_STEP = (Math.sqrt(5) - 1) / 2

const [url = '', prefix = ''] = process.argv.slice(2)
const log = pino({ level: 'silent' })
const platform = createPlatform(readConfig({}), { url, prefix }, log, 'worker')
const { redis, keys, recorder } = platform
// The engine is only asked for its tasks and its health.
const taskDefinition = { category: 'algebra', config_schema: { type: 'object', properties: {} } }
const engine = {
  version: '0',
  tasks: async () => ({ [SIMULATED_TASK]: taskDefinition }),
  health: () => ({ ok: true }),
} as unknown as Engine
const noop = async () => undefined
const tasks = createTasks(platform, { engine, getExample: async () => null })
const items = createItems(platform, { engine, tasks })
const noProgress = { waiting: 0, of: 0, written: 0, refused: 0, unwritten: 0 }
const { runs, frontier } = createRuns(platform, {
  engine,
  tasks,
  items,
  dumps: { getProgress: async () => ({ rollouts: noProgress, failed: noProgress }), flush: noop },
  evals: { measure: () => Promise.reject(new Error('a benchmark has no evals')) },
})
const scoredVerdict: Verdict = {
  status: 'scored',
  reward: 1,
  score: 1,
  answer: '1',
  fault: null,
  components: { correct: 1, format: 1, length_penalty: 0, try_discount: 0 },
}
let waitCount = 0
const grader: Pick<Grader, 'grade' | 'countGraded' | 'loadRule' | 'scoreCached' | 'scoreInLibrary' | 'isNative'> = {
  isNative: () => false,
  countGraded: noop,
  loadRule: noop,
  scoreCached: (_recipe, answers) => answers.map(() => 1),
  scoreInLibrary: async () => [],
  async grade(_recipe, outputs) {
    await sleep(MEAN_WAIT_MS * (0.5 + ((waitCount++ * GOLDEN_RATIO_STEP) % 1))) // not all in step
    return outputs.map(() => scoredVerdict)
  },
}
const storage = { redis, keys, replication: NO_REPLICATION }
const audits = new AuditScoring({ grader })
const scoreGroup = createScoreGroupProcessor({
  engine,
  groups: new GroupRepository(storage),
  runs,
  requeueAlone: noop,
  gradeQueued: createGroupGrading({
    items: { resolveItemId: async (id) => decodeItemId(id), getCachedQuestion: () => '1 + 1 = ?' },
    grader,
    log,
  }),
  recordCompletion: createCompletionRecording({
    completions: new CompletionRepository(storage),
    items: { buildMessages: async () => [] },
    tasks: tasks.tasks,
    dumps: { prepareRecord: noop, handleAppendResults: noop },
    frontier,
    outcomes: new OutcomeBuilder(tasks.cards, log),
    audits,
  }),
  afterCompletion: createCompletionEffects({
    recorder,
    audits,
    formatFaults: new FormatFaultLogger(log),
    itemQueue: { schedulePrefetch: noop },
    frontier,
    log,
  }),
})
startConsumers([scoreGroupJob], [consumeJob(scoreGroupJob, WORKER_CONCURRENCY, scoreGroup)], {
  connection: platform.connectForWorkers(),
  prefix: keys.queuePrefix,
  lockMs: 30_000,
  onError: (error) => console.error(error),
})
process.send?.('listening')
