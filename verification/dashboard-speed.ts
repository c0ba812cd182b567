/**
 * Opens the page of a run with 105 tasks and 5,000 steps in Chromium. The statistics of the run
 * are written straight into Redis (support/large-run.ts), by the code that makes those of real groups. It measures the processor
 * time of the server per route, the time until the page paints and has its charts, the main thread's processor time per event of the live run,
 * and the gzipped size of the scripts, and exits 1 outside the limits. Times are of a quiet machine; `--factor 3` allows three times as much.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import type { Response } from 'playwright-core'
import { resolveRedisBinary } from '../src/main/bootstrap/redis-binary.ts'
import { createRedisKeys } from '../src/platform/redis/keys.ts'
import { openBrowser, openPage } from '../test/dashboard/browser.ts'
import { openWorld, type World } from '../test/world.ts'
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

const { values } = parseArgs({
  options: { steps: { type: 'string', default: '5000' }, factor: { type: 'string', default: '1' } },
})
const failures: string[] = []

function check(what: string, value: number, limit: number, unit: string): void {
  const allowed = unit === 'ms' ? limit * Number(values.factor) : limit
  const isOver = value > allowed
  if (isOver) failures.push(what)
  console.log(
    `${isOver ? 'OVER' : 'ok  '} ${what.padEnd(58)} ${value.toFixed(0).padStart(6)} ${unit}, limit ${allowed} ${unit}`,
  )
}

const folder = mkdtempSync(join(tmpdir(), 'rgs-speed-'))
const redis = new LoopbackRedis(await resolveRedisBinary(console.log), folder, await getFreePort(), {
  appendonly: 'no',
})
const python = join(import.meta.dirname, '..', '.venv', 'bin', 'python')
const redisUrl = `redis://127.0.0.1:${redis.port}`
const world = await openWorld({ redisUrl, python, worker: true, PYTHON_WORKERS: 1 })
const browser = await openBrowser()
try {
  const url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  await fill(world)
  await measureRoutes(world, url)
  await measurePage(world, url)
} finally {
  await browser.close()
  await world.close()
  await redis.stop()
  rmSync(folder, { recursive: true, force: true })
}
if (failures.length > 0) process.exitCode = 1

async function fill(filled: World): Promise<void> {
  const { platform } = filled
  const { body } = await filled.call('GET', '/tasks')
  const tasks = body.tasks.map(({ name }: { name: string }) => name)
  await filled.call('PUT', `/runs/${RUN}`, { tasks: 'all', complexity_mode: 'curriculum', group_size: 8 })
  const shape = { run: RUN, tasks, steps: Number(values.steps), groupsPerStep: 16, groupSize: 8 }
  await writeLargeRun(platform.redis, platform.keys, shape)
  console.log(`${tasks.length} tasks, ${values.steps} steps, ${await platform.redis.dbsize()} keys`)
}

/** Processor time of this process, which has the server, and of Redis, the first time and again. */
async function measureRoutes({ platform }: World, url: string): Promise<void> {
  for (const route of ROUTES) {
    const times: number[] = []
    for (let k = 0; k < 2; k++) {
      const [before, redisBefore] = [process.cpuUsage(), await readRedisMs(platform.redis)]
      await (await fetch(`${url}/runs/${RUN}${route}`)).text()
      const { user, system } = process.cpuUsage(before)
      times.push((user + system) / 1000 + (await readRedisMs(platform.redis)) - redisBefore)
    }
    check(`GET /runs/{run}${route}, first`, times[0] ?? 0, LIMITS.first_ms, 'ms')
    check(`GET /runs/{run}${route}, again`, times[1] ?? 0, LIMITS.route_ms, 'ms')
  }
}

async function readRedisMs(client: World['platform']['redis']): Promise<number> {
  const text = String(await client.call('INFO', 'cpu'))
  const read = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(text)?.[1])
  return 1000 * (read('used_cpu_user') + read('used_cpu_sys'))
}

async function measurePage({ platform, prefix }: World, url: string): Promise<void> {
  const opened = await openPage(browser, url, { width: 1440, height: 900 })
  const { page } = opened
  const scripts: Response[] = []
  page.on('response', (response) => {
    if (new URL(response.url()).pathname.endsWith('.js')) scripts.push(response)
  })
  const client = await page.context().newCDPSession(page)
  await client.send('Performance.enable', { timeDomain: 'threadTicks' })
  /** Processor time of the main thread. */
  const readTask = async () => {
    const { metrics } = await client.send('Performance.getMetrics')
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0)
  }
  await page.addInitScript(WATCH)
  const cpu = process.cpuUsage()
  await page.goto(`${url}/#/runs/${RUN}`)
  await page.locator('.chart canvas').first().waitFor({ timeout: 60_000 })
  while ((await page.evaluate('drawnAt')) === undefined) await sleep(10)
  const { user, system } = process.cpuUsage(cpu)
  const task = await readTask()
  const paint = await page.evaluate<number>(
    "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.now()",
  )
  check('first contentful paint', paint, LIMITS.paint_ms, 'ms')
  check('charts drawn', await page.evaluate<number>('drawnAt'), LIMITS.paint_ms, 'ms')
  console.log(
    `     processor time until then: main thread ${task.toFixed(0)} ms, server and this script ${((user + system) / 1000).toFixed(0)} ms`,
  )
  await sleep(3000)
  const bodies = await Promise.all(scripts.map((script) => script.body()))
  const bytes = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0)
  check('scripts, gzipped', bytes / 1000, LIMITS.scripts_kb, 'kB')
  const { createRunKeys } = await import('../src/features/runs/keys.ts')
  const keys = createRunKeys(createRedisKeys(prefix))
  const readEvents = () => page.evaluate<number>('events')
  const [before, eventsBefore] = [await readTask(), await readEvents()]
  for (const until = Date.now() + LIVE_MS; Date.now() < until; await sleep(CHANGE_MS)) {
    await platform.redis.hincrby(keys.run(RUN), 'step', 1)
    await platform.redis.hincrby(keys.run(RUN), 'scored_groups', 16)
  }
  const [spent, events] = [(await readTask()) - before, (await readEvents()) - eventsBefore]
  check('main thread per live update, mean', spent / events, LIMITS.update_ms, 'ms')
  console.log(`     ${events} updates in ${LIVE_MS / 1000} s, with the refreshes of the heat map and the distributions`)
  await opened.close()
}
