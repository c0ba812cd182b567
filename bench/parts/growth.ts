/** W8: what a long training leaves behind must not slow it: many groups through one run, many runs, many look-ups. */
import { Redis } from 'ioredis'
import { assertNoErrors, type Bench, type BenchRow } from '../bench-row.ts'
import { NUMBER_MARK } from '../load/requests.ts'
import { runLoad, writeLoadRequests } from '../load/run.ts'
import { getTreeCpuSeconds } from '../machine.ts'
import { callServer, startOurServer, waitUntilScored } from '../servers.ts'

const GROUP_COUNT = 200_000
const BUFFERED_GROUP_COUNT = 100_000
const TENTHS = 10
const GROUPS_PER_POST = 50
const RUN_COUNT = 1000
const LOOKUP_COUNT = 10_000

export async function benchmarkGrowth({ record: keep }: Bench): Promise<BenchRow[]> {
  const server = await startOurServer()
  const redis = new Redis(`${server.dataDir}/redis/redis.sock`)
  redis.on('error', () => {})
  const memory = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
  try {
    const run = 'growth'
    await callServer(server, 'PUT', `/runs/${run}`, { buffer_max_groups: 1_000_000, keep_groups: 20_000 })
    const { items } = (await callServer(server, 'POST', '/items', { task: 'chain_sum', seed: 1 })) as {
      items: { id: string }[]
    } // as documented
    const at = { port: server.port, server: server.pid, anywhere: true, warmupS: 0 }
    const rollouts = Array.from({ length: 4 }, (_, k) => ({
      completion: `It must be <answer>${k}</answer>`,
      length_tokens: 500 + k,
    }))
    const post = (buffer: boolean) => {
      const groups = Array.from({ length: GROUPS_PER_POST }, (_, k) => ({
        item_id: items[0]?.id,
        group_id: `${NUMBER_MARK}-${k}`,
        buffer,
        rollouts,
      }))
      return writeLoadRequests(`growth-${buffer}`, [{ path: '/rollouts', body: JSON.stringify({ run, groups }) }])
    }
    await callServer(server, 'PUT', `/runs/${run}`, { drop_equal_scores: false })
    const rates: number[] = []
    const costs: number[] = []
    const before = await memory()
    let bytes = 0
    for (let tenth = 0; tenth < TENTHS; tenth++) {
      const many = GROUP_COUNT / TENTHS
      const start = performance.now()
      const used = await getTreeCpuSeconds(server.pid)
      const posted = await runLoad({
        ...at,
        asks: post(tenth * many < BUFFERED_GROUP_COUNT),
        count: many / GROUPS_PER_POST,
        firstNumber: tenth * many,
        connections: 8,
        timeoutS: 120,
      })
      assertNoErrors('W8', posted)
      await waitUntilScored(server, run, (tenth + 1) * many)
      rates.push(many / ((performance.now() - start) / 1000))
      costs.push((((await getTreeCpuSeconds(server.pid)) - used) * 1e6) / many)
      if ((tenth + 1) * many === BUFFERED_GROUP_COUNT) bytes = ((await memory()) - before) / BUFFERED_GROUP_COUNT
      keep('W8', { tenth, rate: rates.at(-1), microsecondsEach: costs.at(-1), usedMemory: await memory() })
    }
    const looks = Array.from({ length: 500 }, (_, k) => {
      const number = (TENTHS - 1) * (GROUP_COUNT / TENTHS) + (k % (GROUP_COUNT / TENTHS / GROUPS_PER_POST)) + 1
      return {
        method: 'GET' as const,
        path: `/rollouts/${String(number).padStart(NUMBER_MARK.length, '0')}-${k % GROUPS_PER_POST}?run=${run}`,
      }
    })
    const looked = await runLoad({
      ...at,
      asks: writeLoadRequests('growth-looks', looks),
      count: LOOKUP_COUNT,
      connections: 16,
    })
    assertNoErrors('W8 look-ups', looked)
    const start = performance.now()
    for (let k = 0; k < RUN_COUNT; k++) await callServer(server, 'PUT', `/runs/growth-${k}`, {})
    const made = RUN_COUNT / ((performance.now() - start) / 1000)
    const rows: BenchRow[] = [
      {
        work: 'W8',
        what: `${GROUP_COUNT} groups through one run: rate of the last tenth vs. the first`,
        value: (rates.at(-1) ?? 0) / (rates[0] ?? 1),
        unit: '×',
        least: 0.9,
        beside: `tenths: ${rates.map(Math.round).join(', ')} groups/s`,
      },
      {
        work: 'W8',
        what: 'CPU time per group: first tenth vs. the last',
        value: (costs[0] ?? 0) / (costs.at(-1) ?? 1),
        unit: '×',
        beside: `tenths: ${costs.map(Math.round).join(', ')} µs`,
      },
      {
        work: 'W8',
        what: `memory in Redis per small group, with ${BUFFERED_GROUP_COUNT} buffered`,
        value: bytes,
        unit: 'bytes',
      },
      {
        work: 'W8',
        what: 'lookups of groups',
        value: looked.perSecond,
        unit: '/s',
        beside: `p99 ${looked.p99?.toFixed(1)} ms`,
      },
      { work: 'W8', what: `creating ${RUN_COUNT} runs`, value: made, unit: '/s' },
    ]
    return rows
  } finally {
    redis.disconnect()
    await server.stop()
  }
}
