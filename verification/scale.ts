/** A server with 1,000 runs, and one run of 100,000 groups: what idle runs cost, and how long reads and Redis commands take. */
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { createGroupKeys } from '../src/features/rollouts/records.ts'
import type { Checkpoint } from '../src/features/runs/checkpoint/document.ts'
import { createRunKeys } from '../src/features/runs/records.ts'
import { RunRepository } from '../src/features/runs/repository.ts'
import { createRedisKeys } from '../src/platform/redis/keys.ts'
import { countCommandsPerSecond, Figures, readCpuMs, watchLiveness, watchSlowLog } from './scale/figures.ts'
import { buildLargeCheckpoint } from './scale/large-checkpoint.ts'
import { startSingleRedis } from './support/fleet.ts'
import { call, requireBody } from './support/http.ts'
import { waitUntil } from './support/wait.ts'
import { type ChildServer, startChildServer } from './support/with-server.ts'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    groups: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '30' },
  },
})
const [RUNS, GROUPS, SECONDS] = [values.runs, values.groups, values.seconds].map(Number) as [number, number, number] // of three
const PREFIX = 'scale'
const PAGES = 40
const LARGE = 'large'
/** Longest time in which the API may answer no other call, in ms. It parses the body of a restore, 29 MB, at once. */
const MAX_BLOCKED_MS = 250
const MAX_BLOCKED_BY_BODY_MS = 2500

const figures = new Figures()
const redisServer = await startSingleRedis()
const redis = new Redis(redisServer.url)
const keys = createRedisKeys(PREFIX)
const env = {
  REDIS_URL: redisServer.url,
  REDIS_PREFIX: PREFIX,
  API_PROCESSES: '1',
  PYTHON_WORKERS: '1',
}
let server = await startChildServer(env)
try {
  await createIdleRuns()
  await server.stop()
  const startedAt = performance.now()
  server = await startChildServer(env)
  figures.add(`start with ${RUNS} runs`, (performance.now() - startedAt) / 1000, 's', 30)
  figures.add('Redis commands per second, idle', await countCommandsPerSecond(redis, SECONDS), '', 250)
  await measurePages(server)
  await measureLargeRun(server)
} finally {
  await server.stop()
  redis.disconnect()
  await redisServer.stop()
}
process.exitCode = figures.print() === 0 ? 0 : 1

/** As runs that nobody has used for an hour. */
async function createIdleRuns(): Promise<void> {
  const repository = new RunRepository(redis, keys)
  const { runsToSweep } = createRunKeys(keys)
  const settings = { preset: 'clean' as const, tasks: ['chain_sum', 'gcd'] }
  for (let k = 0; k < RUNS; k++) {
    await repository.updateSettings(`run-${k}`, undefined, settings, { restart: false, remake: false })
    await redis.zadd(runsToSweep, Date.now() - 3_600_000, `run-${k}`)
  }
  const isSettled = async () => (await redis.zcard(runsToSweep)) === 0
  await waitUntil('the sweeps visit no idle run', isSettled, { timeoutMs: 60_000 })
}

/** The process ID of the one API process. */
async function findApiProcess(url: string): Promise<number> {
  const overview = (await requireBody('GET', `${url}/overview`)) as { processes: { process: string; role: string }[] }
  return Number(overview.processes.find(({ role }) => role === 'api')?.process.split('/')[1])
}

async function measurePages({ url }: ChildServer): Promise<void> {
  const api = await findApiProcess(url)
  const measure = async (path: string, limitMs: number, cpuLimitMs?: number) => {
    await call('GET', `${url}${path}`) // warm
    const [cpu, startedAt] = [readCpuMs(api), performance.now()]
    for (let k = 0; k < PAGES; k++) await call('GET', `${url}${path}`)
    figures.add(`GET ${path}`, (performance.now() - startedAt) / PAGES, 'ms', limitMs)
    figures.add(`GET ${path}: processor time of the API`, (readCpuMs(api) - cpu) / PAGES, 'ms', cpuLimitMs)
  }
  const blocked = await watchLiveness(url, async () => {
    await measure('/runs', 100, 20)
    await measure('/runs?sort=activity&limit=50', 100, 20)
    await measure('/metrics', 300)
    await measure('/overview', 100)
  })
  figures.add('GET /livez meanwhile: slowest', blocked, 'ms', MAX_BLOCKED_MS)
}

async function measureLargeRun({ url }: ChildServer): Promise<void> {
  const run = `${url}/runs/${LARGE}`
  const api = await findApiProcess(url)
  await requireBody('PUT', run, {
    body: { tasks: ['chain_sum', 'gcd', 'leg_counting'], complexity_mode: 'curriculum' },
  })
  const empty = (await requireBody('GET', `${run}/checkpoint`)) as Checkpoint
  const checkpoint = buildLargeCheckpoint(empty, GROUPS)
  const measure = async (
    name: string,
    work: () => Promise<unknown>,
    { loopLimitMs = MAX_BLOCKED_MS, cpuLimitMs }: { loopLimitMs?: number; cpuLimitMs?: number } = {},
  ) => {
    let [ms, cpuMs] = [0, 0]
    let slowest = { ms: 0, command: '' }
    const blocked = await watchLiveness(url, async () => {
      slowest = await watchSlowLog(redis, async () => {
        const [cpu, startedAt] = [readCpuMs(api), performance.now()]
        await work()
        ms = performance.now() - startedAt
        cpuMs = readCpuMs(api) - cpu
      })
    })
    figures.add(name, ms / 1000, 's')
    figures.add(`${name}: processor time of the API`, cpuMs, 'ms', cpuLimitMs)
    figures.add(`${name}: slowest Redis command (${slowest.command})`, slowest.ms, 'ms', 20)
    figures.add(`${name}: slowest GET /livez`, blocked, 'ms', loopLimitMs)
  }
  await measure('restore', () => requireBody('PUT', `${run}/checkpoint`, { body: checkpoint, timeoutMs: 300_000 }), {
    loopLimitMs: MAX_BLOCKED_BY_BODY_MS,
  })
  await writeGroupRecords()
  await measure('checkpoint', () => call('GET', `${run}/checkpoint`, { timeoutMs: 300_000 }))
  await measure('run', () => call('GET', run))
  await measure('history', () => call('GET', `${run}/history`, { timeoutMs: 60_000 }))
  await measure('metrics, 400 points', () => call('GET', `${run}/metrics?points=400`), { cpuLimitMs: 300 })
  await measure('metrics of each step', () => call('GET', `${run}/metrics`, { timeoutMs: 60_000 }))
  await measure('groups', () => call('GET', `${run}/groups?limit=200`))
  await measure('deletion', async () => {
    await call('DELETE', run)
    const isGone = async () => (await redis.exists(createRunKeys(keys).discardedEpochs(LARGE))) === 0
    await waitUntil('the keys of the deleted run are gone', isGone, { timeoutMs: 300_000, pollMs: 500 })
  })
}

/** The records that are kept of each group for a day, to recognize a repeated post. */
async function writeGroupRecords(): Promise<void> {
  const epoch = Number(await redis.hget(createRunKeys(keys).run(LARGE), 'epoch'))
  const { allGroups, group } = createGroupKeys(keys).forRun(LARGE, epoch)
  const expiresAt = Date.now() + 24 * 3_600_000
  for (let first = 0; first < GROUPS; first += 1000) {
    const pipeline = redis.pipeline()
    for (let k = first; k < first + 1000; k++) {
      pipeline.hset(group(`group-${k}`), {
        content_hash: `${k}`,
        status: 'scored',
        rewards: '[0,1]',
        completion_number: k,
      })
      pipeline.zadd(allGroups, expiresAt, `group-${k}`)
    }
    await pipeline.exec()
  }
}
