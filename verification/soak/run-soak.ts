/** Runs one soak: starts a server like `npm start`, runs all actors against it, and takes measurements. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createRedisSocket } from '../../src/main/bootstrap/redis-socket-path.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { type ChildServer, startChildServer } from '../support/with-server.ts'
import { type Actor, runActor } from './actor.ts'
import { CallLog } from './call-log.ts'
import { Measurements } from './measurements.ts'
import { startMockModelProcess } from './mock-model-process.ts'
import { SoakClient } from './soak-client.ts'
import { createBrokenClients } from './traffic/broken-clients.ts'
import { createBroughtEvals, createCollections, createEvals } from './traffic/models.ts'
import { OpenDashboards } from './traffic/open-dashboards.ts'
import { createHostileAnswers, createScoring } from './traffic/scoring.ts'
import { createShortRuns } from './traffic/short-runs.ts'
import { createFileReader, createSteadyRun, STEADY_RUN, STEADY_RUN_SETTINGS } from './traffic/steady-run.ts'
import { createTrainer } from './traffic/trainer.ts'

const PROCESS_SAMPLE_INTERVAL_MS = 2_000
const MIN_STATE_INTERVAL_MS = 10_000
const STATE_SAMPLES = 60
const SERVER_ENV = { MODEL_HOSTS: '127.0.0.1', LOG_LEVEL: 'warn', DUMP_IDLE_FLUSH_S: '10' }

export interface SoakOptions {
  minutes: number
  seed: number
  onProgress: (log: CallLog, measurements: Measurements) => void
}

export interface SoakReport {
  log: CallLog
  measurements: Measurements
  seconds: number
  /** The server's log at level warn and above. */
  serverLog: string
}

export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  const server = await startChildServer(SERVER_ENV)
  try {
    return await soakServer(server, options)
  } finally {
    await server.stop()
  }
}

async function soakServer(server: ChildServer, { minutes, seed, onProgress }: SoakOptions): Promise<SoakReport> {
  const over = new AbortController()
  const log = new CallLog()
  const client = new SoakClient(server.url, log, over.signal)
  await client.call('PUT /runs/{run}', 'PUT', `/runs/${STEADY_RUN}`, { body: STEADY_RUN_SETTINGS })
  const model = await startMockModelProcess(server.url)
  const dashboards = await OpenDashboards.open(server.url, log)
  const redisSocket = createRedisSocket(`${server.dataDir}/redis`).path
  const measurements = new Measurements(server, redisSocket, dashboards)
  const random = new SeededRandom(seed)
  const actors: Actor[] = [
    ...[createTrainer, createShortRuns, createSteadyRun, createFileReader].map((create) => create(client, random)),
    ...[createScoring, createHostileAnswers, createBrokenClients].map((create) => create(client, random)),
    createEvals(client, model.url),
    createBroughtEvals(client),
    createCollections(client, model.url),
  ]
  try {
    const working = actors.map((actor) => runActor(actor, client))
    await measureUntil(minutes * 60, log, measurements, onProgress)
    const { seconds } = log
    over.abort()
    await Promise.all(working)
    return { log, measurements, seconds, serverLog: server.output() }
  } finally {
    over.abort()
    measurements.close()
    await dashboards.close()
    await model.stop()
  }
}

async function measureUntil(
  endS: number,
  log: CallLog,
  measurements: Measurements,
  onProgress: SoakOptions['onProgress'],
): Promise<void> {
  const stateIntervalS = Math.max(MIN_STATE_INTERVAL_MS, (endS * 1000) / STATE_SAMPLES) / 1000
  for (let nextState = 0; log.seconds < endS; await sleep(PROCESS_SAMPLE_INTERVAL_MS)) {
    measurements.sampleProcesses(log.seconds)
    if (log.seconds < nextState) continue
    nextState = log.seconds + stateIntervalS
    await measurements.sampleState(log.seconds)
    onProgress(log, measurements)
  }
  measurements.sampleProcesses(log.seconds)
  await measurements.sampleState(log.seconds)
}
