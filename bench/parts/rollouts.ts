/** W5: POST /rollouts of 16 completions of 2 KB for a new item each, scored by workers, buffered; every process of ours on all cores. */
import { Redis } from 'ioredis'
import pMap from 'p-map'
import { assertNoErrors, type Bench, type BenchRow, median } from '../bench-row.ts'
import { type ItemCompletions, makeCompletions, writeOurRequests } from '../completions.ts'
import { prepareBaselinePython } from '../environment.ts'
import { NUMBER_MARK } from '../load/requests.ts'
import { type LoadMeasurement, runLoad, writeLoadRequests } from '../load/run.ts'
import { listProcessTree } from '../machine.ts'
import { callServer, type OurServer, startOurServer, waitUntilScored } from '../servers.ts'

const ROLLOUTS_PER_GROUP = 16
const GROUP_COUNT = 2400 // in the first thousand after a start, V8 still compiles what is busy: up to twice the time for each
const RUN_SETTINGS = {
  extraction: 'last_tag',
  dual_format: false,
  buffer_max_groups: 1_000_000,
  batch_size: 128,
  min_trained_tokens: 0,
}

export async function benchmarkRollouts(bench: Bench): Promise<BenchRow[]> {
  const python = await prepareBaselinePython()
  const take = () => makeCompletions(python, 'chain_sum', GROUP_COUNT, ROLLOUTS_PER_GROUP)
  const server = await startOurServer()
  const redis = new Redis(`${server.dataDir}/redis/redis.sock`)
  redis.on('error', () => {})
  let traffic: number[] = []
  try {
    const completions: number[] = []
    const scored: number[] = []
    await callServer(server, 'PUT', '/runs/warm', RUN_SETTINGS)
    const warmup = await take()
    await scoreAllGroups(server, 'warm', await writeGroupRequests(server, 'warm', warmup), GROUP_COUNT) // for V8 to compile what is busy
    await scoreByCall(server, warmup)
    const shares: Record<string, number>[] = []
    for (let round = 0; round < bench.rounds; round++) {
      const all = await take()
      const run = `bench-${round}`
      await callServer(server, 'PUT', `/runs/${run}`, RUN_SETTINGS)
      const requests = await writeGroupRequests(server, run, all)
      const measured = await scoreByCall(server, all)
      scored.push(measured.unitsPerSecond)
      const before = getCpuSecondsByKind(server)
      const asked = await readRedisCounters(redis)
      const { seconds, accepted } = await scoreAllGroups(server, run, requests, GROUP_COUNT)
      const after = getCpuSecondsByKind(server)
      const more = await readRedisCounters(redis)
      traffic = more.map((sum, k) => (sum - (asked[k] ?? 0)) / GROUP_COUNT)
      const share = Object.fromEntries(
        Object.entries(after).map(([kind, s]) => [kind, ((s - (before[kind] ?? 0)) * 1e6) / GROUP_COUNT]),
      )
      shares.push(share)
      completions.push((GROUP_COUNT * ROLLOUTS_PER_GROUP) / seconds)
      bench.record('W5', { seconds, accepted, microsecondsAGroup: share, scorePerSecond: measured.unitsPerSecond })
      await callServer(server, 'DELETE', `/runs/${run}`)
    }
    const [us, plain] = [median(completions), median(scored)]
    const kinds = Object.keys(shares[0] ?? {})
    const beside = kinds
      .map((kind) => `${kind} ${Math.round(median(shares.map((share) => share[kind] ?? 0)))} µs`)
      .join(', ')
    return [
      {
        work: 'W5',
        what: 'groups of 16: posted, scored and buffered',
        value: us / ROLLOUTS_PER_GROUP,
        unit: 'groups/s',
        beside: `CPU time per group: ${beside}`,
      },
      {
        work: 'W5',
        what: 'completions vs. POST /score on the same cores',
        value: us / plain,
        unit: '×',
        least: 0.2,
        beside: `${Math.round(us)} vs. ${Math.round(plain)} completions/s`,
      },
      {
        work: 'W5',
        what: 'Redis commands per group, including those in scripts',
        value: traffic[0] ?? 0,
        unit: '',
        beside: `${((traffic[1] ?? 0) / 1e3).toFixed(1)} KB to Redis, ${((traffic[2] ?? 0) / 1e3).toFixed(1)} KB from it`,
      },
    ]
  } finally {
    redis.disconnect()
    await server.stop()
  }
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
    return { path: '/rollouts', units: ROLLOUTS_PER_GROUP, body }
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

/** From the first post until the last group is buffered. */
async function scoreAllGroups(
  server: OurServer,
  run: string,
  asks: string,
  count: number,
): Promise<{ seconds: number; accepted: number }> {
  const at = { port: server.port, server: server.pid, anywhere: true }
  const posted = await runLoad({ ...at, asks, count, connections: 64, warmupS: 0 })
  assertNoErrors('W5 /rollouts', posted)
  const start = performance.now()
  const progress = await waitUntilScored(server, run, count)
  if (progress.buffered_groups !== count)
    throw new Error(`W5: ${progress.buffered_groups} of ${count} groups are buffered`)
  return { seconds: posted.seconds + (performance.now() - start) / 1000, accepted: posted.perSecond }
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
