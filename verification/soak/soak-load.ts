/** A soak: a server like `npm start`, all actors at once, and what is measured until the time is over. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRedisSocket } from '../../src/main/bootstrap/redis/redis-process.ts'
import type { Storm } from '../storm/storm.ts'
import { endProcess } from '../support/loopback-redis.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { startChildServer } from '../support/with-server.ts'
import { createBrokenClients } from './broken-clients.ts'
import { Measurements } from './measurements.ts'
import { OpenDashboards } from './open-dashboards.ts'
import { writeReport } from './report.ts'
import { CallLog, SoakClient } from './soak-client.ts'
import { type Actor, createActors, STEADY_RUN, STEADY_RUN_SETTINGS } from './traffic.ts'

const PROCESS_SAMPLE_INTERVAL_MS = 2_000
const MIN_STATE_INTERVAL_S = 10
const STATE_SAMPLES = 60
const SERVER_ENV = { MODEL_HOSTS: '127.0.0.1', LOG_LEVEL: 'warn', DUMP_IDLE_FLUSH_S: '10' }
const CLI = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts')
/** A model's server has its bad moments too. */
const MODEL_FAULTS = { 'server-errors': 0.03, 'rate-limits': 0.03, 'closed-connections': 0.02, truncations: 0.05 }

export async function startSoak({ minutes, seed }: { minutes: number; seed: number }): Promise<Storm> {
  const server = await startChildServer(SERVER_ENV)
  const log = new CallLog()
  const over = new AbortController()
  const client = new SoakClient(server.url, log, over.signal)
  await client.call('PUT', `/runs/${STEADY_RUN}`, { body: STEADY_RUN_SETTINGS })
  const model = await startMockModel(server.url)
  const dashboards = await OpenDashboards.open(server.url, log)
  const redisSocket = createRedisSocket(`${server.dataDir}/redis`).path
  const measurements = new Measurements(server, redisSocket, dashboards)
  const random = new SeededRandom(seed)
  let seconds = 0
  return {
    seed,
    fleet: {
      urls: [server.url],
      async waitUntilAllReady() {},
      async stop() {
        measurements.close()
        await dashboards.close()
        await model.stop()
        await server.stop()
        return []
      },
    },
    load: {
      async work({ isOver }) {
        const actors = [...createActors(client, random, model.url), createBrokenClients(client, random)]
        await Promise.all(actors.map((actor) => runActor(actor, client, isOver)))
      },
      async settle({ ledger }) {
        const { text, failures } = writeReport({ log, measurements, seconds, serverLog: server.output() })
        console.log(`\n${text}\n`)
        for (const failure of failures) ledger.addViolation(failure)
      },
    },
    events: (async function* measure() {
      const endS = minutes * 60
      const stateIntervalS = Math.max(MIN_STATE_INTERVAL_S, endS / STATE_SAMPLES)
      for (let nextState = 0; log.seconds < endS; await sleep(PROCESS_SAMPLE_INTERVAL_MS)) {
        measurements.sampleProcesses(log.seconds)
        if (log.seconds < nextState) continue
        nextState = log.seconds + stateIntervalS
        await measurements.sampleState(log.seconds)
        yield describeProgress(log, measurements)
      }
      measurements.sampleProcesses(log.seconds)
      await measurements.sampleState(log.seconds)
      seconds = log.seconds
      over.abort()
    })(),
  }
}

/** Resolves when the soak is over and the last round has ended. Logs a round that throws as unexpected. */
async function runActor({ name, everyMs, round }: Actor, client: SoakClient, isOver: () => boolean): Promise<void> {
  for (let k = 0; !isOver(); k++) {
    const next = performance.now() + everyMs
    await round(k).catch((error: Error) => {
      const cause = error.cause instanceof Error ? error.cause.message : ''
      client.log.addUnexpected(name, error.name, `${error.message} ${cause}`)
    })
    await sleep(Math.max(0, next - performance.now()), undefined, { signal: client.signal }).catch(() => {})
  }
}

function describeProgress(log: CallLog, { memoryMb, census, cpuPercent }: Measurements): string {
  const memory = [...memoryMb.byName]
    .filter(([name]) => !name.startsWith('dashboard'))
    .map(([name, samples]) => `${name} ${samples.at(-1)?.value.toFixed(0)}`)
  const keys = census?.patterns.reduce((sum, { lasting, expiring }) => sum + lasting + expiring, 0)
  return `minute ${(log.seconds / 60).toFixed(1)}: ${log.callCount} calls, ${log.unexpectedCount} unexpected, CPU ${cpuPercent.toFixed(0)} %; MB: ${memory.join(', ')}; ${keys} keys`
}

/** The mock model in a process of its own, by its command. */
async function startMockModel(serverUrl: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const faults = Object.entries(MODEL_FAULTS).flatMap(([name, share]) => [`--${name}`, String(share)])
  const args = [
    '--disable-warning=ExperimentalWarning',
    CLI,
    'mock-model',
    '--port',
    '0',
    '--url',
    serverUrl,
    ...faults,
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill('SIGKILL'))
  for await (const line of createInterface(child.stdout)) {
    const url = /http:\/\/\S+\/v1/.exec(line)?.[0]
    if (url !== undefined) return { url, stop: () => endProcess(child, 'SIGTERM') }
  }
  throw new Error('the mock model ended before it listened')
}
