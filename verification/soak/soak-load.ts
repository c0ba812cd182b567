/** A soak: a server like `npm start`, all actors at once, and what is measured until the time is over. */
import { setTimeout as sleep } from 'node:timers/promises'
import { startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { createRedisSocket } from '../../src/main/bootstrap/redis/redis-process.ts'
import { openBrowser, openPage } from '../../test/dashboard/browser.ts'
import type { Storm } from '../storm/storm.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { startChildServer } from '../support/with-server.ts'
import { createBrokenClients } from './broken-clients.ts'
import { Measurements } from './measurements.ts'
import { CallLog, SoakClient } from './soak-client.ts'
import { type Actor, createActors, STEADY_RUN, STEADY_RUN_SETTINGS } from './traffic.ts'

const PROCESS_SAMPLE_INTERVAL_MS = 2_000
const MIN_STATE_INTERVAL_S = 10
const STATE_SAMPLES = 60
const SERVER_ENV = { MODEL_HOSTS: '127.0.0.1', LOG_LEVEL: 'warn', DUMP_IDLE_FLUSH_S: '10' }
/** A model's server has its bad moments too. */
const MODEL_FAULTS = { serverErrors: 0.03, rateLimits: 0.03, closedConnections: 0.02, truncations: 0.05 }
const DASHBOARD_HASHES = ['', `#/runs/${STEADY_RUN}`]
/** A run that is deleted between the list of the dashboard and what it reads of the run. */
const DELETED_RUN = /404 .*\/runs\/(?:train|short)-/
const HEAP_MB = 'performance.memory.usedJSHeapSize / 1024 ** 2'

export async function startSoak({ minutes, seed }: { minutes: number; seed: number }): Promise<Storm> {
  const server = await startChildServer(SERVER_ENV)
  const log = new CallLog()
  const over = new AbortController()
  const client = new SoakClient(server.url, log, over.signal)
  await client.call('PUT', `/runs/${STEADY_RUN}`, { body: STEADY_RUN_SETTINGS })
  const model = await startMockModel({ server: { url: server.url }, ...MODEL_FAULTS })
  const browser = await openBrowser(undefined, ['--enable-precise-memory-info'])
  const dashboards = await Promise.all(DASHBOARD_HASHES.map(() => openPage(browser, server.url, {}, DELETED_RUN)))
  for (const [k, { page }] of dashboards.entries()) await page.goto(`${server.url}/${DASHBOARD_HASHES[k]}`)
  const measurements = new Measurements(server.pid, createRedisSocket(`${server.dataDir}/redis`).path)
  const random = new SeededRandom(seed)
  let seconds = 0
  return {
    seed,
    fleet: {
      urls: [server.url],
      async waitUntilAllReady() {},
      async stop() {
        measurements.close()
        await browser.close()
        await model.close()
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
        for (const { rows, failures } of [measurements.assess(seconds), log.assess(seconds)]) {
          console.table(rows)
          for (const failure of failures) ledger.addViolation(failure)
        }
        for (const what of measurements.restarts) ledger.addViolation(`Exited by itself and was restarted: ${what}`)
        for (const { troubles } of dashboards)
          for (const trouble of troubles) ledger.addViolation(`Dashboard: ${trouble}`)
      },
    },
    events: (async function* measure() {
      const endS = minutes * 60
      const stateIntervalS = Math.max(MIN_STATE_INTERVAL_S, endS / STATE_SAMPLES)
      for (let nextState = 0; log.seconds < endS; await sleep(PROCESS_SAMPLE_INTERVAL_MS)) {
        seconds = log.seconds
        measurements.sampleProcesses(seconds)
        if (seconds < nextState) continue
        nextState = seconds + stateIntervalS
        await measurements.sampleRedis(seconds)
        for (const [k, { page }] of dashboards.entries())
          measurements.add('memory', `MB of dashboard ${k + 1}`, seconds, Number(await page.evaluate(HEAP_MB)))
        yield `minute ${(seconds / 60).toFixed(1)}: ${log.callCount} calls, ${log.unexpectedCount} unexpected`
      }
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
