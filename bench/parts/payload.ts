/**
 * W11: what a group costs each redis-server, by its size and the number of masters. One run, whose master is not the one of the
 * job queue. Redis counts its own processor time, so the figures hold on a machine that is busy with other things.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { ChildServer } from '../../src/main/bootstrap/child-server.ts'
import { resolveRedisBinary } from '../../src/main/bootstrap/redis/redis-process.ts'
import { findFreePortPairs, LoopbackRedis } from '../../verification/support/loopback-redis.ts'
import { formCluster, startClusterNodes } from '../../verification/support/redis-cluster.ts'
import { assertNoErrors, type Bench, type BenchRow, median } from '../bench-row.ts'
import { encodeTypedArrays, generateTokenArrays, type TokenArrays } from '../completions.ts'
import { NUMBER_MARK } from '../load/requests.ts'
import { runLoad, writeLoadRequests } from '../load/run.ts'
import { getTreeCpuSeconds, listProcessTree } from '../machine.ts'
import { callServer, type OurServer, waitUntilScored } from '../servers.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const PREFIX = 'bench'
const ROLLOUTS_PER_GROUP = 16
const GROUPS_PER_BATCH = 8
const IDLE_S = 2
const MASTER_COUNTS = [1, 3]
/** More than enough to find one on another master than the queue's. */
const RUN_NAME_TRIES = 100

interface GroupShape {
  name: string
  groups: number
  distinct: number
  /** 0: text of 2 KB and no arrays. */
  tokens: number
  typed: boolean
}
/** Many groups of 1 MB, so that chance deals them out evenly; fewer of 8 MB, for the cost of a byte. */
const SHAPES: GroupShape[] = [
  { name: 'text', groups: 2000, distinct: 50, tokens: 0, typed: false },
  { name: '1 MB', groups: 384, distinct: 32, tokens: 2048, typed: false },
  { name: '8 MB', groups: 48, distinct: 8, tokens: 16_384, typed: false },
  { name: '8 MB typed', groups: 48, distinct: 8, tokens: 16_384, typed: true },
]

/** A master, while groups came in or went out. */
interface Phase {
  masters: RedisUsage[]
  apiSeconds: number
  workerSeconds: number
}

interface Measurement {
  variant: string
  masters: number
  shape: string
  groups: number
  /** Of one group as JSON numbers, whatever form was sent. */
  jsonBytes: number
  runMaster: number
  queueMaster: number
  in: Phase
  out: Phase
}

export async function benchmarkPayload(bench: Bench): Promise<BenchRow[]> {
  const found: Measurement[] = []
  const variants = { ...(bench.base !== undefined && { base: bench.base }), this: ROOT }
  for (let round = 0; round < bench.rounds; round++)
    for (const masters of MASTER_COUNTS)
      for (const [variant, root] of Object.entries(variants))
        for (const one of await measureServer(variant, root, masters)) {
          found.push(one)
          bench.record('W11', one)
        }
  return Object.keys(variants).flatMap((variant) =>
    MASTER_COUNTS.flatMap((masters) =>
      SHAPES.flatMap(({ name }) =>
        summarize(found.filter((one) => one.variant === variant && one.masters === masters && one.shape === name)),
      ),
    ),
  )
}

function summarize(rounds: Measurement[]): BenchRow[] {
  const [first] = rounds
  if (!first) return []
  const { variant, masters, shape, groups, jsonBytes } = first
  const what = `${variant === 'this' ? '' : `${variant}: `}${shape}, ${masters} ${masters === 1 ? 'master' : 'masters'}`
  const each = (of: (one: Measurement) => number) => median(rounds.map(of))
  const microseconds = (seconds: number) => (seconds * 1e6) / groups
  const runMaster = (phase: Phase, k: number) => microseconds(phase.masters[k]?.mainThreadSeconds ?? 0)
  const all = (phase: Phase) => microseconds(sum(phase.masters.map((master) => master.processSeconds)))
  const megabytes = jsonBytes / 1e6
  const format = (value: number) => Math.round(value).toLocaleString('en')
  const cost = (name: 'in' | 'out'): BenchRow => {
    const own = each((one) => runMaster(one[name], one.runMaster))
    const queue = each((one) => runMaster(one[name], one.queueMaster))
    const api = each((one) => microseconds(one[name].apiSeconds))
    const workers = each((one) => microseconds(one[name].workerSeconds))
    return {
      work: 'W11',
      what: `${what}, ${name}: CPU time of the run's master per MB`,
      value: own / megabytes,
      unit: 'µs',
      beside: `per group: ${format(own)} µs; queue's master ${format(queue)}, all masters ${format(each((one) => all(one[name])))}, API ${format(api)}, workers ${format(workers)} µs`,
    }
  }
  /** The fullest master against an even share. */
  const uneven = (of: (one: Measurement) => number[]) =>
    each((one) => (Math.max(...of(one)) * masters) / Math.max(1, sum(of(one))))
  const bytes = {
    'in memory': uneven((one) => one.in.masters.map((master) => master.memoryBytes)),
    received: uneven((one) => one.in.masters.map((master) => master.bytesIn)),
    sent: uneven((one) => one.out.masters.map((master) => master.bytesOut)),
    'to the append-only file': uneven((one) => one.in.masters.map((master) => master.appendOnlyBytes)),
  }
  const held = each((one) => sum(one.in.masters.map((master) => master.memoryBytes))) / groups
  const even: BenchRow = {
    work: 'W11',
    what: `${what}: bytes of the fullest master vs. an even share`,
    value: Math.max(...Object.values(bytes)),
    unit: '×',
    beside: `${Object.entries(bytes)
      .map(([name, value]) => `${name} ${value.toFixed(2)}`)
      .join(', ')}; ${(held / 1e6).toFixed(3)} MB in Redis of ${megabytes.toFixed(3)} MB`,
  }
  return [cost('in'), cost('out'), ...(masters > 1 ? [even] : [])]
}

async function measureServer(variant: string, root: string, masterCount: number): Promise<Measurement[]> {
  const { nodes, url, stop } = await startMasters(masterCount)
  try {
    const { startChildServer } = (await import(join(root, 'src', 'main', 'bootstrap', 'child-server.ts'))) as {
      startChildServer: (env: Record<string, string>) => Promise<ChildServer>
    } // of this checkout or another one
    const env = { REDIS_URL: url, REDIS_PREFIX: PREFIX, API_PROCESSES: '2', WORKERS: '1', PYTHON_WORKERS: '1' }
    const child = await startChildServer({ ...env, LOG_LEVEL: 'warn' })
    const server: OurServer = { ...child, port: Number(new URL(child.url).port) }
    try {
      const found: Measurement[] = []
      for (const shape of SHAPES) {
        const place = await pickRun(nodes, shape)
        found.push({
          variant,
          masters: masterCount,
          ...place,
          ...(await measureShape(server, nodes, place.run, shape)),
        })
      }
      return found
    } finally {
      await server.stop()
    }
  } finally {
    await stop()
  }
}

/** One Redis without cluster mode, or a cluster. Nothing rewrites its file meanwhile, which would cost when it likes. */
async function startMasters(count: number) {
  if (count > 1) {
    const cluster = await startClusterNodes(count)
    await formCluster(cluster.nodes)
    for (const { client } of cluster.nodes) await client.config('SET', 'auto-aof-rewrite-percentage', '0')
    return cluster
  }
  const folder = mkdtempSync(join(tmpdir(), 'rgs-bench-'))
  const [port = 0] = await findFreePortPairs(1)
  const settings = { 'auto-aof-rewrite-percentage': '0' }
  const node = new LoopbackRedis(await resolveRedisBinary(console.error), folder, port, settings)
  const stop = async () => {
    await node.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { nodes: [node], url: `redis://127.0.0.1:${port}`, stop }
}

/** A name of a run that another master than the queue's serves. */
async function pickRun(nodes: LoopbackRedis[], { name }: GroupShape) {
  const clients = nodes.map(({ client }) => client)
  const queueMaster = await findMaster(clients, `{${PREFIX}:jobs}`)
  for (let k = 0; k < RUN_NAME_TRIES; k++) {
    const run = `${name.toLowerCase().replaceAll(' ', '-')}-${k}`
    const runMaster = await findMaster(clients, `{${PREFIX}:run:${run}}`)
    if (runMaster !== queueMaster || clients.length === 1) return { run, runMaster, queueMaster }
  }
  throw new Error('no run is apart from the queue')
}

/** `formCluster` deals out the slots in equal parts. */
async function findMaster([client, ...others]: Redis[], key: string): Promise<number> {
  if (!client || others.length === 0) return 0
  const slot = Number(await client.cluster('KEYSLOT', key))
  return Math.floor(slot / Math.ceil(16_384 / (1 + others.length)))
}

async function measureShape(server: OurServer, nodes: LoopbackRedis[], run: string, shape: GroupShape) {
  const { items } = (await callServer(server, 'POST', '/items', { task: 'chain_sum', seed: 1 })) as {
    items: { id: string }[]
  } // as documented
  const generated = Array.from({ length: shape.distinct }, () => generateTokenArrays(ROLLOUTS_PER_GROUP, shape.tokens))
  const build = (typed: boolean) =>
    generated.map((group) => ({ path: '/rollouts', body: JSON.stringify(buildGroup(run, items[0]?.id, group, typed)) }))
  const asks = writeLoadRequests(run, build(shape.typed))
  const settings = {
    batch_size: GROUPS_PER_BATCH * ROLLOUTS_PER_GROUP,
    drop_equal_scores: false,
    buffer_max_groups: 10_000,
  }
  await callServer(server, 'PUT', `/runs/${run}`, settings)
  const load = {
    port: server.port,
    server: server.pid,
    asks,
    warmupS: 0,
    connections: 8,
    anywhere: true,
    timeoutS: 120,
  }
  let posted = 0
  const post = async (count: number) => {
    assertNoErrors('W11', await runLoad({ ...load, count, firstNumber: posted }))
    posted += count
    await waitUntilScored(server, run, posted)
  }
  let step = 0
  const take = async (steps: number) => {
    for (const end = step + steps; step < end; step++) await takeBatch(server, run, step, shape.typed)
  }
  await post(GROUPS_PER_BATCH) // compiles what is about to be measured
  await take(1)
  const measured = { in: await measurePhase(server, nodes, () => post(shape.groups)) }
  const out = await measurePhase(server, nodes, () => take(shape.groups / GROUPS_PER_BATCH))
  await callServer(server, 'DELETE', `/runs/${run}`)
  const sizes = build(false).map(({ body }) => body.length)
  return { ...measured, out, shape: shape.name, groups: shape.groups, jsonBytes: sum(sizes) / sizes.length }
}

function buildGroup(run: string, itemId: string | undefined, group: TokenArrays[], typed: boolean) {
  const rollouts = group.map((arrays, n) => ({
    completion: `${writeText(arrays.tokens)} <answer>${n}</answer>`,
    ...(arrays.tokens.length > 0 && (typed ? encodeTypedArrays(arrays) : arrays)),
  }))
  return { run, item_id: itemId, group_id: NUMBER_MARK, rollouts }
}

const TEXT_WORDS = 500

/** Four bytes for each token; without tokens, 2 KB. */
function writeText(tokens: number[]): string {
  const words = tokens.length > 0 ? tokens : Array.from({ length: TEXT_WORDS }, () => Math.random() * 151_000)
  return words.map((word) => (Math.floor(word) % 2000).toString(36).padStart(3, 'e')).join(' ')
}

async function takeBatch(server: OurServer, run: string, step: number, typed: boolean): Promise<void> {
  const response = await fetch(`${server.url}/runs/${run}/batches?arrays=${typed ? 'base64' : 'numbers'}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
    body: JSON.stringify({ step }),
  })
  const { byteLength } = await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`W11 out: ${response.status}, ${byteLength} bytes`)
  await callServer(server, 'POST', `/runs/${run}/batches/${step}/ack`, {})
}

/** What the work used beyond what an idle server uses in the same time. */
async function measurePhase(server: OurServer, nodes: LoopbackRedis[], work: () => Promise<void>): Promise<Phase> {
  const clients = nodes.map(({ client }) => client)
  const read = async () => ({
    masters: await Promise.all(clients.map(getRedisUsage)),
    apiSeconds: await getRoleSeconds(server, 'api.ts'),
    workerSeconds: await getRoleSeconds(server, 'worker.ts'),
    at: performance.now(),
  })
  const idle = await read()
  await sleep(IDLE_S * 1000)
  const before = await read()
  await work()
  const after = await read()
  const share = (after.at - before.at) / (before.at - idle.at)
  const masters = after.masters.map((master, k) => {
    const [from, earlier] = [before.masters[k] ?? master, idle.masters[k] ?? master]
    return subtractUsage(subtractUsage(master, from), scaleUsage(subtractUsage(from, earlier), share))
  })
  const seconds = (name: 'apiSeconds' | 'workerSeconds') =>
    after[name] - before[name] - (before[name] - idle[name]) * share
  return { masters, apiSeconds: seconds('apiSeconds'), workerSeconds: seconds('workerSeconds') }
}

/** With the Python workers below them. */
async function getRoleSeconds(server: OurServer, script: string): Promise<number> {
  const processes = listProcessTree(server.pid).filter(({ command }) => command.includes(script))
  return sum(await Promise.all(processes.map(({ pid }) => getTreeCpuSeconds(pid))))
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** What each redis-server has used, as it says itself: finer than the ticks of /proc. */
interface RedisUsage {
  /** Of the thread that runs commands: there is one core of it, whatever the machine has. */
  mainThreadSeconds: number
  /** Of all threads, without children that rewrite files. */
  processSeconds: number
  bytesIn: number
  bytesOut: number
  memoryBytes: number
  appendOnlyBytes: number
  commands: number
}

async function getRedisUsage(redis: Redis): Promise<RedisUsage> {
  const text = await redis.info()
  const field = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1] ?? 0)
  return {
    mainThreadSeconds: field('used_cpu_user_main_thread') + field('used_cpu_sys_main_thread'),
    processSeconds: field('used_cpu_user') + field('used_cpu_sys'),
    bytesIn: field('total_net_input_bytes'),
    bytesOut: field('total_net_output_bytes'),
    memoryBytes: field('used_memory'),
    appendOnlyBytes: field('aof_current_size'),
    commands: field('total_commands_processed'),
  }
}

function subtractUsage(after: RedisUsage, before: RedisUsage): RedisUsage {
  return mapUsage(after, (value, name) => value - before[name])
}

function scaleUsage(usage: RedisUsage, by: number): RedisUsage {
  return mapUsage(usage, (value) => value * by)
}

function mapUsage(usage: RedisUsage, to: (value: number, name: keyof RedisUsage) => number): RedisUsage {
  const names = Object.keys(usage) as (keyof RedisUsage)[] // its own keys
  return Object.fromEntries(names.map((name) => [name, to(usage[name], name)])) as unknown as RedisUsage // all of them
}
