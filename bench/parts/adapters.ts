/** W10: the wire formats of trainers, one completion a call, beside POST /score with one rollout. */
import { Redis } from 'ioredis'
import { assertNoErrors, type Bench, type BenchRow, median } from '../bench-row.ts'
import { makeCompletions } from '../completions.ts'
import { prepareBaselinePython } from '../environment.ts'
import type { LoadRequest } from '../load/requests.ts'
import { type LoadMeasurement, runLoad, writeLoadRequests } from '../load/run.ts'
import { waitUntilIdle } from '../machine.ts'
import { callServer, type OurServer, startOurServer } from '../servers.ts'

const REQUEST_COUNT = 1000
const CONNECTION_COUNT = 64
const RUN = 'adapters'

/** A completion, as every wire sends it. */
interface Sample {
  itemId: string
  question: string
  completion: string
  reward: number
}

const WIRES: { name: string; isTarget: boolean; build: (sample: Sample) => LoadRequest }[] = [
  { name: 'OpenRLHF', isTarget: true, build: (sample) => buildOpenrlhfRequest('/openrlhf/get_reward', sample) },
  { name: 'slime', isTarget: true, build: (sample) => buildSlimeRequest('/slime/rm', sample) },
  {
    name: 'OpenRLHF with a run, in open groups',
    isTarget: false,
    build: (sample) => buildOpenrlhfRequest(`/openrlhf/${RUN}/get_reward`, sample),
  },
  {
    name: 'slime with a run, in open groups',
    isTarget: false,
    build: (sample) => buildSlimeRequest(`/slime/${RUN}/rm`, sample),
  },
]

/** Each round measures every wire beside the native call, since the machine's speed varies from minute to minute. */
export async function benchmarkAdapters(bench: Bench): Promise<BenchRow[]> {
  const server = await startOurServer({ API_PROCESSES: '1', WORKERS: '1' }, { onOneCore: true })
  const redis = new Redis(`${server.dataDir}/redis/redis.sock`)
  redis.on('error', () => {})
  try {
    const samples = await makeSamples(server)
    await callServer(server, 'PUT', `/runs/${RUN}`, { group_size: 16, buffer: false })
    const native = writeRequests('score', samples.map(buildScoreRequest))
    const files = WIRES.map(({ name, build }) => writeRequests(name, samples.map(build)))
    const measure = async (name: string, asks: string): Promise<WireMeasurement> => {
      const before = await readRedisCpuSeconds(redis)
      const found = await runLoad({
        port: server.port,
        server: server.pid,
        asks,
        connections: CONNECTION_COUNT,
        seconds: bench.seconds,
      })
      assertNoErrors(`W10 ${name}`, found)
      await waitUntilIdle(server.pid)
      const redisMicroseconds = (((await readRedisCpuSeconds(redis)) - before) * 1e6) / found.allRequests
      bench.record(`W10 ${name}`, { ...found, redisMicroseconds })
      return { ...found, redisMicroseconds }
    }
    await measure('warm', native)
    const rounds: { native: WireMeasurement; wires: WireMeasurement[] }[] = []
    for (let round = 0; round < bench.rounds; round++) {
      const one: (typeof rounds)[number] = { native: await measure('POST /score', native), wires: [] }
      for (const [k, { name }] of WIRES.entries()) one.wires.push(await measure(name, files[k] ?? ''))
      rounds.push(one)
    }
    const redisCost = median(rounds.map(({ wires }) => wires.at(-1)?.redisMicroseconds ?? Number.NaN))
    const redisRow: BenchRow = {
      work: 'W10',
      what: `${WIRES.at(-1)?.name}: completions a second that one core of Redis carries`,
      value: 1e6 / redisCost,
      unit: '/s',
      least: 5000,
      beside: `${redisCost.toFixed(0)} µs of Redis per completion`,
    }
    const rows = WIRES.map(({ name, isTarget }, k): BenchRow => {
      const pairs = rounds.map(({ native: ours, wires }) => [wires[k], ours] as const)
      const rate = (some: (LoadMeasurement | undefined)[]) =>
        median(some.map((one) => one?.unitsPerSecond ?? Number.NaN))
      const [wire, score] = [rate(pairs.map(([one]) => one)), rate(pairs.map(([, one]) => one))]
      return {
        work: 'W10',
        what: `${name}, ${CONNECTION_COUNT} connections: throughput vs. POST /score with one rollout`,
        value: median(pairs.map(([one, ours]) => (one?.unitsPerSecond ?? Number.NaN) / ours.unitsPerSecond)),
        unit: '×',
        ...(isTarget && { least: 1 }),
        beside: `${Math.round(wire)} vs. ${Math.round(score)} completions/s`,
      }
    })
    return [...rows, redisRow]
  } finally {
    redis.disconnect()
    await server.stop()
  }
}

interface WireMeasurement extends LoadMeasurement {
  redisMicroseconds: number
}

async function readRedisCpuSeconds(redis: Redis): Promise<number> {
  const info = await redis.info('cpu')
  return ['used_cpu_sys', 'used_cpu_user'].reduce(
    (sum, name) => sum + Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1]),
    0,
  )
}

/** Scored once by the native call: every wire must say the same. */
async function makeSamples(server: OurServer): Promise<Sample[]> {
  const all = await makeCompletions(await prepareBaselinePython(), 'chain_sum', REQUEST_COUNT)
  const samples: Sample[] = []
  for (const { task, seed, index, config, completions } of all) {
    const recipe = { task, seed, index, ...(Object.keys(config).length > 0 && { config }) }
    const { items } = (await callServer(server, 'POST', '/items', recipe)) as {
      items: { id: string; question: string }[]
    } // as documented
    for (const { id, question } of items) {
      const rollouts = completions.map((completion) => ({ item_id: id, completion }))
      const { rewards } = (await callServer(server, 'POST', '/score', { rollouts })) as { rewards: number[] } // likewise
      samples.push(
        ...completions.map((completion, k) => ({ itemId: id, question, completion, reward: rewards[k] ?? Number.NaN })),
      )
    }
  }
  return samples
}

function writeRequests(name: string, requests: LoadRequest[]): string {
  return writeLoadRequests(`adapters-${name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`, requests)
}

function buildScoreRequest({ itemId, completion, reward }: Sample): LoadRequest {
  const body = JSON.stringify({ rollouts: [{ item_id: itemId, completion }] })
  return { path: '/score', body, expect: [reward], field: 'rewards' }
}

function buildOpenrlhfRequest(path: string, { itemId, question, completion, reward }: Sample): LoadRequest {
  const prompt = `<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n`
  const query = `${prompt}${completion}<|im_end|>`
  const body = JSON.stringify({ query: [query], prompts: [prompt], labels: [itemId] })
  return { path, body, expect: [reward], field: 'rewards' }
}

function buildSlimeRequest(path: string, { itemId, question, completion, reward }: Sample): LoadRequest {
  const body = JSON.stringify({ prompt: question, response: completion, label: itemId })
  return { path, body, expect: [reward] }
}
