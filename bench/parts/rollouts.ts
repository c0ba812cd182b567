/** W5: POST /rollouts of 16 and of 8 completions of 2 KB for a new item each, scored by workers, buffered; every process of ours on all cores. */
import { Redis } from 'ioredis'
import pMap from 'p-map'
import { assertNoErrors, type Bench, type BenchRow, median } from '../bench-row.ts'
import { type ItemCompletions, makeCompletions, writeOurRequests } from '../completions.ts'
import { prepareBaselinePython } from '../environment.ts'
import { NUMBER_MARK } from '../load/requests.ts'
import { type LoadMeasurement, runLoad, writeLoadRequests } from '../load/run.ts'
import { listProcessTree, waitUntilIdle } from '../machine.ts'
import { callServer, type OurServer, startOurServer, waitUntilScored } from '../servers.ts'

const GROUP_SIZES = [16, 8]
const GROUP_COUNT = 2400 // in the first thousand after a start, V8 still compiles what is busy: up to twice the time for each
const RUN_SETTINGS = {
  extraction: 'last_tag',
  dual_format: false,
  buffer_max_groups: 1_000_000,
  batch_size: 128,
  min_trained_tokens: 0,
}

/** Of one round. Processor time is in microseconds. */
interface Measured {
  groupsPerSecond: number
  /** The same completions by POST /score. */
  scoredPerSecond: number
  /** Of each kind of process, for a group. */
  group: Record<string, number>
  /** For a call of POST /score with the completions of a group. */
  score: number
  /** Commands, bytes in and bytes out, for a group. */
  redis: number[]
}

export async function benchmarkRollouts(bench: Bench): Promise<BenchRow[]> {
  const server = await startOurServer()
  const redis = new Redis(`${server.dataDir}/redis/redis.sock`)
  redis.on('error', () => {})
  const rounds = new Map<number, Measured[]>(GROUP_SIZES.map((size) => [size, []]))
  try {
    await measure(server, redis, 'warm', GROUP_SIZES[0] ?? 0) // for V8 to compile what is busy
    for (let round = 0; round < bench.rounds; round++) {
      for (const [size, measured] of rounds) {
        const found = await measure(server, redis, `bench-${size}-${round}`, size)
        bench.record('W5', { size, ...found })
        measured.push(found)
      }
    }
    return [...rounds].flatMap(([size, measured]) => buildRows(size, measured))
  } finally {
    redis.disconnect()
    await server.stop()
  }
}

async function measure(server: OurServer, redis: Redis, run: string, size: number): Promise<Measured> {
  const all = await makeCompletions(await prepareBaselinePython(), 'chain_sum', GROUP_COUNT, size)
  await callServer(server, 'PUT', `/runs/${run}`, RUN_SETTINGS)
  const requests = await writeGroupRequests(server, run, all)
  await waitUntilIdle(server.pid)
  const idle = getCpuSecondsByKind(server)
  const { perSecond: scoredPerSecond } = await scoreByCall(server, all)
  await waitUntilIdle(server.pid)
  const before = getCpuSecondsByKind(server)
  const countersBefore = await readRedisCounters(redis)
  const seconds = await scoreAllGroups(server, run, requests, GROUP_COUNT)
  const after = getCpuSecondsByKind(server)
  const counters = await readRedisCounters(redis)
  await callServer(server, 'DELETE', `/runs/${run}`)
  return {
    groupsPerSecond: GROUP_COUNT / seconds,
    scoredPerSecond,
    group: subtract(after, before),
    score: sumOf(subtract(before, idle)),
    redis: counters.map((sum, k) => (sum - (countersBefore[k] ?? 0)) / GROUP_COUNT),
  }
}

/** Microseconds for each of the groups. */
function subtract(after: Record<string, number>, before: Record<string, number>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([kind, seconds]) => [kind, ((seconds - (before[kind] ?? 0)) * 1e6) / GROUP_COUNT]),
  )
}

function sumOf(byKind: Record<string, number>): number {
  return Object.values(byKind).reduce((sum, us) => sum + us, 0)
}

function buildRows(size: number, measured: Measured[]): BenchRow[] {
  const of = (read: (one: Measured) => number) => median(measured.map(read))
  const kinds = Object.keys(measured[0]?.group ?? {})
  const shares = kinds.map((kind) => `${kind} ${Math.round(of(({ group }) => group[kind] ?? 0))} µs`).join(', ')
  const [commands, received, sent] = [0, 1, 2].map((k) => of(({ redis }) => redis[k] ?? 0))
  return [
    {
      work: 'W5',
      what: `groups of ${size}: posted, scored and buffered`,
      value: of(({ groupsPerSecond }) => groupsPerSecond),
      unit: 'groups/s',
      beside: `CPU time per group: ${shares}`,
    },
    {
      work: 'W5',
      what: `groups of ${size}: throughput vs. POST /score on the same cores`,
      value: of(({ groupsPerSecond, scoredPerSecond }) => groupsPerSecond / scoredPerSecond),
      unit: '×',
      ...(size === 16 && { least: 0.16 }),
      beside: `${Math.round(of((one) => one.groupsPerSecond * size))} vs. ${Math.round(of((one) => one.scoredPerSecond * size))} completions/s`,
    },
    {
      work: 'W5',
      what: `groups of ${size}: processor time vs. POST /score with the same completions`,
      value: of(({ group, score }) => sumOf(group) / score),
      unit: '×',
      ...(size === 8 && { most: 4 }),
      beside: `${Math.round(of(({ group }) => sumOf(group)))} vs. ${Math.round(of(({ score }) => score))} µs`,
    },
    {
      work: 'W5',
      what: `groups of ${size}: Redis commands per group, including those in scripts`,
      value: commands ?? 0,
      unit: '',
      beside: `${((received ?? 0) / 1e3).toFixed(1)} KB to Redis, ${((sent ?? 0) / 1e3).toFixed(1)} KB from it`,
    },
  ]
}

/** A group of each item, which is made before, as in a training. */
async function writeGroupRequests(server: OurServer, run: string, all: ItemCompletions[]): Promise<string> {
  const made = await pMap(
    all,
    async ({ task, seed, index }) => (await callServer(server, 'POST', '/items', { task, seed, index })) as MadeItems,
    { concurrency: 16 },
  )
  const requests = all.map(({ completions }, k) => {
    const rollouts = completions.map((completion) => ({ completion }))
    const body = JSON.stringify({ run, item_id: made[k]?.items[0]?.id, group_id: NUMBER_MARK, rollouts })
    return { path: '/rollouts', units: completions.length, body }
  })
  return writeLoadRequests(`rollouts-${run}`, requests)
}

/** As documented. */
interface MadeItems {
  items: { id: string }[]
}

/** The same completions by POST /score. */
async function scoreByCall(server: OurServer, all: ItemCompletions[]): Promise<LoadMeasurement> {
  const asks = writeOurRequests('rollouts', all)
  const at = { port: server.port, server: server.pid, count: all.length, anywhere: true, warmupS: 0 }
  const found = await runLoad({ ...at, asks })
  assertNoErrors('W5 /score', found)
  return found
}

/** Seconds from the first post until the last group is buffered. */
async function scoreAllGroups(server: OurServer, run: string, asks: string, count: number): Promise<number> {
  const at = { port: server.port, server: server.pid, anywhere: true }
  const posted = await runLoad({ ...at, asks, count, connections: 64, warmupS: 0 })
  assertNoErrors('W5 /rollouts', posted)
  const start = performance.now()
  const progress = await waitUntilScored(server, run, count)
  if (progress.buffered_groups !== count)
    throw new Error(`W5: ${progress.buffered_groups} of ${count} groups are buffered`)
  return posted.seconds + (performance.now() - start) / 1000
}

/** Commands, bytes in, bytes out. */
async function readRedisCounters(redis: Redis): Promise<number[]> {
  const info = await redis.info('stats')
  return ['total_commands_processed', 'total_net_input_bytes', 'total_net_output_bytes'].map((name) =>
    Number(new RegExp(`${name}:(\\d+)`).exec(info)?.[1]),
  )
}

/** Processor seconds of each kind of process. */
function getCpuSecondsByKind(server: OurServer): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { command, seconds } of listProcessTree(server.pid)) {
    const kind = /api\.ts/.test(command)
      ? 'API'
      : /worker\.ts/.test(command)
        ? 'workers'
        : /redis-server/.test(command)
          ? 'Redis'
          : 'rest'
    sums[kind] = (sums[kind] ?? 0) + seconds
  }
  return sums
}
