/**
 * Opens the page of a run with 105 tasks and 5,000 steps in Chromium. The statistics of the run are written straight into Redis
 * (support/large-run.ts), by the code that makes those of real groups. It measures the processor time of the server per route, the
 * time until the page paints and has its charts, the main thread's processor time per event of the live run, and the gzipped size of
 * the scripts, and fails outside the limits. Times are of a quiet machine.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { createRunKeys } from '../src/features/runs/records.ts'
import { resolveRedisBinary } from '../src/main/bootstrap/redis/redis-process.ts'
import { createRedisKeys } from '../src/platform/redis/keys.ts'
import { openBrowser, openPage } from '../test/dashboard/browser.ts'
import { openWorld } from '../test/world.ts'
import { writeLargeRun } from './support/large-run.ts'
import { LoopbackRedis } from './support/loopback-redis.ts'
import { getFreePort } from './support/with-server.ts'

const RUN = 'large'
/**
 * The first read of a run adds up the sums of all steps, of about 170 fields each, and takes Redis most of that time, in calls of a
 * few milliseconds. Each process remembers the rows of finished steps. Fewer fields per step would make it faster.
 */
const LIMITS = { first_ms: 600, route_ms: 300, paint_ms: 1000, update_ms: 50, scripts_kb: 150 }
const ROUTES = [
  '',
  '/metrics?points=400',
  '/metrics?points=400&from=4992',
  '/histograms?points=200',
  '/task-metrics?metric=accuracy',
  '/task-metrics?metric=difficulty',
]
/** Time in which live updates are measured. */
const LIVE_MS = 40_000
const CHANGE_MS = 2000

/** Notes when the first chart is drawn, and counts the events that the page receives. */
const WATCH = `
  globalThis.drawnAt = undefined
  globalThis.events = 0
  const observer = new MutationObserver(() => {
    if (!document.querySelector('.chart canvas')) return
    observer.disconnect()
    requestAnimationFrame(() => (globalThis.drawnAt = performance.now()))
  })
  observer.observe(document, { subtree: true, childList: true })
  const { read } = ReadableStreamDefaultReader.prototype
  ReadableStreamDefaultReader.prototype.read = async function () {
    const chunk = await read.call(this)
    if (typeof chunk.value === 'string' && /^event: ?run$/m.test(chunk.value)) globalThis.events++
    return chunk
  }`
const FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.now()"

const { values } = parseArgs({
  options: { steps: { type: 'string', default: '5000' }, factor: { type: 'string', default: '1' } },
})
const folder = mkdtempSync(join(tmpdir(), 'rgs-speed-'))
const binary = await resolveRedisBinary(console.log)
const redis = new LoopbackRedis(binary, folder, await getFreePort(), { appendonly: 'no' })
const python = join(import.meta.dirname, '..', '.venv', 'bin', 'python')
const redisUrl = `redis://127.0.0.1:${redis.port}`
const world = await openWorld({ redisUrl, python, worker: true, PYTHON_WORKERS: 1 })
const browser = await openBrowser()
try {
  const url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  await fill()
  await measureRoutes(url)
  await measurePage(url)
} finally {
  await browser.close()
  await world.close()
  await redis.stop()
  rmSync(folder, { recursive: true, force: true })
}

function check(what: string, value: number, limit: number, unit: string): void {
  const allowed = unit === 'ms' ? limit * Number(values.factor) : limit
  const word = value > allowed ? 'OVER' : 'ok  '
  if (value > allowed) process.exitCode = 1
  console.log(`${word} ${what.padEnd(58)} ${value.toFixed(0).padStart(6)} ${unit}, limit ${allowed} ${unit}`)
}

async function fill(): Promise<void> {
  const { body } = await world.call('GET', '/tasks')
  const tasks = body.tasks.map(({ name }: { name: string }) => name)
  await world.call('PUT', `/runs/${RUN}`, { tasks: 'all', complexity_mode: 'curriculum', group_size: 8 })
  const shape = { run: RUN, tasks, steps: Number(values.steps), groupsPerStep: 16, groupSize: 8 }
  await writeLargeRun(world.platform.redis, world.platform.keys, shape)
  console.log(`${tasks.length} tasks, ${values.steps} steps, ${await world.platform.redis.dbsize()} keys`)
}

/** Processor time of this process, which has the server, and of Redis, the first time and again. */
async function measureRoutes(url: string): Promise<void> {
  for (const route of ROUTES) {
    for (const [when, limit] of [
      ['first', LIMITS.first_ms],
      ['again', LIMITS.route_ms],
    ] as const) {
      const [before, redisBefore] = [process.cpuUsage(), await readRedisMs()]
      await (await fetch(`${url}/runs/${RUN}${route}`)).text()
      const { user, system } = process.cpuUsage(before)
      const ms = (user + system) / 1000 + (await readRedisMs()) - redisBefore
      check(`GET /runs/{run}${route}, ${when}`, ms, limit, 'ms')
    }
  }
}

async function readRedisMs(): Promise<number> {
  const text = String(await world.platform.redis.call('INFO', 'cpu'))
  const read = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(text)?.[1])
  return 1000 * (read('used_cpu_user') + read('used_cpu_sys'))
}

async function measurePage(url: string): Promise<void> {
  const opened = await openPage(browser, url, { width: 1440, height: 900 })
  const { page } = opened
  let scriptBytes = 0
  page.on('response', async (response) => {
    if (new URL(response.url()).pathname.endsWith('.js')) scriptBytes += gzipSync(await response.body()).length
  })
  const readMainThreadMs = await watchMainThread(page)
  await page.addInitScript(WATCH)
  await page.goto(`${url}/#/runs/${RUN}`)
  await page.locator('.chart canvas').first().waitFor({ timeout: 60_000 })
  while ((await page.evaluate('drawnAt')) === undefined) await sleep(10)
  check('first contentful paint', await page.evaluate<number>(FIRST_PAINT), LIMITS.paint_ms, 'ms')
  check('charts drawn', await page.evaluate<number>('drawnAt'), LIMITS.paint_ms, 'ms')
  await sleep(3000)
  check('scripts, gzipped', scriptBytes / 1000, LIMITS.scripts_kb, 'kB')
  const key = createRunKeys(createRedisKeys(world.prefix)).run(RUN)
  const readEvents = () => page.evaluate<number>('events')
  const [before, eventsBefore] = [await readMainThreadMs(), await readEvents()]
  for (const until = Date.now() + LIVE_MS; Date.now() < until; await sleep(CHANGE_MS)) {
    await world.platform.redis.hincrby(key, 'step', 1)
    await world.platform.redis.hincrby(key, 'scored_groups', 16)
  }
  const [spent, events] = [(await readMainThreadMs()) - before, (await readEvents()) - eventsBefore]
  check('main thread per live update, mean', spent / events, LIMITS.update_ms, 'ms')
  console.log(`     ${events} updates in ${LIVE_MS / 1000} s, with the refreshes of the heat map and the distributions`)
  await opened.close()
}

/** Reads the processor time of the page's main thread. */
async function watchMainThread(page: Page): Promise<() => Promise<number>> {
  const client = await page.context().newCDPSession(page)
  await client.send('Performance.enable', { timeDomain: 'threadTicks' })
  return async () => {
    const { metrics } = await client.send('Performance.getMetrics')
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0)
  }
}
