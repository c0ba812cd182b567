/** W5: POST /rollouts of 16 completions of 2 KB, scored by workers, buffered; every process of ours on all cores. */
import { Redis } from 'ioredis'
import { pythonOfBaselines } from '../environment.ts'
import { NUMBER_MARK } from '../load/asks.ts'
import { load, writeAsks } from '../load/run.ts'
import { processesBelow } from '../machine.ts'
import { assertRight, type Bench, median, type Row } from '../rows.ts'
import { call, type Ours, startOurs } from '../servers.ts'
import { asksForUs, makeTexts } from '../texts.ts'
import { settled } from '../waiting.ts'

const ROLLOUTS = 16
const GROUPS = 1200
const RUN = {
  extraction: 'last_tag',
  dual_format: false,
  buffer_max_groups: 1_000_000,
  batch_size: 128,
  min_trained_tokens: 0,
}

export async function rollouts(bench: Bench): Promise<Row[]> {
  const { all } = await makeTexts(await pythonOfBaselines(), 'chain_sum', 200)
  const server = await startOurs()
  const redis = new Redis(`${server.dataDir}/redis/redis.sock`)
  redis.on('error', () => {})
  let traffic: number[] = []
  try {
    const completions: number[] = []
    const scored: number[] = []
    await call(server, 'PUT', '/runs/warm', RUN)
    const scoring = asksForUs('chain_sum', all)
    await through(server, 'warm', await groupAsks(server, 'warm', all), GROUPS) // for V8 to compile what is busy
    const shares: Record<string, number>[] = []
    for (let round = 0; round < bench.rounds; round++) {
      const measured = await load({
        port: server.port,
        server: server.pid,
        asks: scoring,
        seconds: bench.seconds,
        anywhere: true,
      })
      assertRight('W5 /score', measured)
      scored.push(measured.unitsPerSecond)
      const run = `bench-${round}`
      await call(server, 'PUT', `/runs/${run}`, RUN)
      const before = secondsByKind(server)
      const asked = await counted(redis)
      const { seconds, accepted } = await through(server, run, await groupAsks(server, run, all), GROUPS)
      const after = secondsByKind(server)
      const more = await counted(redis)
      traffic = more.map((sum, k) => (sum - (asked[k] ?? 0)) / GROUPS)
      const share = Object.fromEntries(
        Object.entries(after).map(([kind, s]) => [kind, ((s - (before[kind] ?? 0)) * 1e6) / GROUPS]),
      )
      shares.push(share)
      completions.push((GROUPS * ROLLOUTS) / seconds)
      bench.keep('W5', { seconds, accepted, microsecondsAGroup: share, scorePerSecond: measured.unitsPerSecond })
      await call(server, 'DELETE', `/runs/${run}`)
    }
    const [us, plain] = [median(completions), median(scored)]
    const kinds = Object.keys(shares[0] ?? {})
    const beside = kinds
      .map((kind) => `${kind} ${Math.round(median(shares.map((share) => share[kind] ?? 0)))} µs`)
      .join(', ')
    return [
      {
        work: 'W5',
        what: 'groups of 16, posted, scored, buffered',
        value: us / ROLLOUTS,
        unit: 'groups/s',
        beside: `a group: ${beside}`,
      },
      {
        work: 'W5',
        what: 'its completions, to those of POST /score on the same cores',
        value: us / plain,
        unit: '×',
        least: 0.1,
        beside: `${Math.round(us)} to ${Math.round(plain)} completions a second`,
      },
      {
        work: 'W5',
        what: 'commands in Redis for a group, those of scripts among them',
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

/** Two asks of eight completions make a group of sixteen. Items are the run's own, so that answers of others are wrong for them. */
async function groupAsks(
  server: Ours,
  run: string,
  all: { task: string; seed: number; index: number; completions: string[] }[],
) {
  const asks = []
  for (let k = 0; k < 50; k++) {
    const [one, other] = [all[k], all[k + 50]]
    if (!one || !other) break
    const { items } = (await call(server, 'POST', '/items', { task: one.task, seed: one.seed, index: one.index })) as {
      items: { id: string }[]
    } // as documented
    const rollouts = [...one.completions, ...other.completions].map((completion) => ({ completion }))
    asks.push({
      path: '/rollouts',
      units: ROLLOUTS,
      body: JSON.stringify({ run, item_id: items[0]?.id, group_id: NUMBER_MARK, rollouts }),
    })
  }
  return writeAsks(`rollouts-${run}`, asks)
}

/** From the first post until the last group is buffered. */
async function through(
  server: Ours,
  run: string,
  asks: string,
  count: number,
): Promise<{ seconds: number; accepted: number }> {
  const at = { port: server.port, server: server.pid, anywhere: true }
  const posted = await load({ ...at, asks, count, connections: 64, warmupS: 0 })
  assertRight('W5 /rollouts', posted)
  const start = performance.now()
  const progress = await settled(server, run, count)
  if (progress.buffered_groups !== count)
    throw new Error(`W5: ${progress.buffered_groups} of ${count} groups are buffered`)
  return { seconds: posted.seconds + (performance.now() - start) / 1000, accepted: posted.perSecond }
}

/** Commands, bytes in, bytes out. */
async function counted(redis: Redis): Promise<number[]> {
  const info = await redis.info('stats')
  return ['total_commands_processed', 'total_net_input_bytes', 'total_net_output_bytes'].map((name) =>
    Number(new RegExp(`${name}:(\\d+)`).exec(info)?.[1]),
  )
}

/** Processor seconds of each kind of process. */
function secondsByKind(server: Ours): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { command, seconds } of processesBelow(server.pid)) {
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
