/** W6: groups of 1 MB, 16 rollouts of 2,048 tokens with masks and log-probabilities: in, and out as batches; beside Atropos. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { getFreePort } from '../../src/main/bootstrap/child-server.ts'
import { assertNoErrors, type Bench, type BenchRow, median } from '../bench-row.ts'
import { encodeTypedArrays, generateTokenArrays, type TokenArrays } from '../completions.ts'
import { PYTHON_ENV, prepareAtroposPython } from '../environment.ts'
import { NUMBER_MARK } from '../load/requests.ts'
import { runLoad, writeLoadRequests } from '../load/run.ts'
import { listProcessTree } from '../machine.ts'
import {
  callServer,
  type OurServer,
  type RunningProcess,
  startOurServer,
  startProcess,
  waitUntilScored,
} from '../servers.ts'

const GROUP_COUNT = 384
/** Atropos takes a fifth of the groups a second: as many would take minutes. */
const ATROPOS_GROUP_COUNT = 192
/** Different ones; each is sent as several groups. */
const DISTINCT_BODIES = 64
const ROLLOUTS_PER_GROUP = 16
const TOKENS_PER_ROLLOUT = 2048
const BATCH_SIZE = 128

export async function benchmarkTokens(bench: Bench): Promise<BenchRow[]> {
  const ours = await startOurServer()
  const theirs = await startAtropos()
  const redis = new Redis(`${ours.dataDir}/redis/redis.sock`)
  redis.on('error', () => {})
  let peak = 0
  const watch = setInterval(() => {
    const apis = listProcessTree(ours.pid).filter(({ command }) => command.includes('api.ts'))
    peak = Math.max(peak, ...apis.map(({ memoryMb }) => Math.round(memoryMb)))
  }, 250)
  try {
    const all = Array.from({ length: DISTINCT_BODIES }, () =>
      generateTokenArrays(ROLLOUTS_PER_GROUP, TOKENS_PER_ROLLOUT),
    )
    const { items } = (await callServer(ours, 'POST', '/items', { task: 'chain_sum', seed: 1 })) as {
      items: { id: string }[]
    } // as documented
    const found = {
      in: [] as number[],
      typedIn: [] as number[],
      accepted: [] as number[],
      out: [] as number[],
      typed: [] as number[],
      theirIn: [] as number[],
      theirOut: [] as number[],
      share: [] as number[],
    }
    let json = 0
    /** Posts every group once to a new run, and waits until they are buffered. */
    const postAll = async (name: string, arraysOf: (arrays: TokenArrays) => object) => {
      const settings = { batch_size: BATCH_SIZE, drop_equal_scores: false, buffer_max_groups: 10_000 }
      await callServer(ours, 'PUT', `/runs/${name}`, settings)
      const bodies = all.map((group, k) => ({
        path: '/rollouts',
        body: JSON.stringify(buildOurGroup(name, items[0]?.id ?? '', k, group.map(arraysOf))),
      }))
      const posted = await runLoad({
        port: ours.port,
        server: ours.pid,
        asks: writeLoadRequests(name, bodies),
        count: GROUP_COUNT,
        warmupS: 0,
        connections: 8,
        anywhere: true,
      })
      assertNoErrors('W6 in', posted)
      const start = performance.now()
      await waitUntilScored(ours, name, GROUP_COUNT)
      const buffered = GROUP_COUNT / (posted.seconds + (performance.now() - start) / 1000)
      return { posted, buffered, bytes: bodies.reduce((sum, { body }) => sum + body.length, 0) }
    }
    // Not measured: V8 compiles what is busy. Python does not.
    for (const [name, arraysOf] of [
      ['warm', (arrays: TokenArrays) => arrays],
      ['warm-typed', encodeTypedArrays],
    ] as const) {
      await postAll(name, arraysOf)
      await callServer(ours, 'DELETE', `/runs/${name}`)
    }
    for (let round = 0; round < bench.rounds; round++) {
      const run = `tokens-${round}`
      const before = await getSettledRedisMemory(redis)
      const { posted, buffered, bytes } = await postAll(run, (arrays) => arrays)
      json = bytes
      found.in.push(buffered)
      found.accepted.push(posted.perSecond)
      found.share.push(((await getRedisMemory(redis)) - before) / (json * (GROUP_COUNT / DISTINCT_BODIES)))
      found.out.push(await measureOurBatches(ours, run, 'numbers', 0, all))
      found.typed.push(
        await measureOurBatches(ours, run, 'base64', GROUP_COUNT / (BATCH_SIZE / ROLLOUTS_PER_GROUP) / 2, all),
      )
      await callServer(ours, 'DELETE', `/runs/${run}`)
      const typed = await postAll(`typed-${round}`, encodeTypedArrays)
      found.typedIn.push(typed.posted.perSecond)
      await callServer(ours, 'DELETE', `/runs/typed-${round}`)

      const asks = all.map((group) => ({ path: '/scored_data', body: JSON.stringify(buildAtroposGroup(group)) }))
      await registerWithAtropos(theirs)
      const sent = await runLoad({
        port: theirs.port,
        server: theirs.pid,
        asks: writeLoadRequests('tokens-theirs', asks),
        count: ATROPOS_GROUP_COUNT,
        warmupS: 0,
        connections: 8,
        anywhere: true,
      })
      assertNoErrors('W6 Atropos in', sent)
      found.theirIn.push(sent.perSecond)
      found.theirOut.push(await measureAtroposBatches(theirs))
      bench.record('W6', {
        in: found.in.at(-1),
        out: found.out.at(-1),
        theirIn: found.theirIn.at(-1),
        theirOut: found.theirOut.at(-1),
        accepted: posted.perSecond,
        typedIn: typed.posted.perSecond,
        typedMicrosecondsEach: typed.posted.microsecondsEach,
        microsecondsEach: posted.microsecondsEach,
        theirMicrosecondsEach: sent.microsecondsEach,
        peakMb: peak,
      })
    }
    // The machine's speed varies from minute to minute: each round is compared with itself.
    const row = (what: string, us: number[], them: number[], least?: number): BenchRow => ({
      work: 'W6',
      what,
      value: median(us.map((rate, k) => rate / (them[k] ?? Number.NaN))),
      unit: '×',
      ...(least !== undefined && { least }),
      beside: `${median(us).toFixed(0)} vs. ${median(them).toFixed(0)} groups/s, all cores`,
    })
    const { accepted, typedIn, out, typed, theirIn, theirOut } = found
    return [
      row('1 MB groups accepted and on disk, vs. Atropos', accepted, theirIn, 4),
      row('1 MB groups until scored and buffered, vs. Atropos (no scoring)', found.in, theirIn, 4),
      row('1 MB groups sent as typed arrays, vs. Atropos (JSON numbers)', typedIn, theirIn),
      row('batches of 1 MB groups as JSON numbers, vs. Atropos', out, theirOut, 10),
      row('batches of 1 MB groups as typed arrays, vs. Atropos', typed, theirOut),
      { work: 'W6', what: 'peak memory of an API process', value: peak, unit: 'MB', most: 500 },
      {
        work: 'W6',
        what: 'size of a buffered group in Redis vs. its JSON',
        value: median(found.share),
        unit: '×',
        most: 0.5,
        beside: `JSON ${(json / DISTINCT_BODIES / 1e6).toFixed(2)} MB per group`,
      },
    ]
  } finally {
    clearInterval(watch)
    redis.disconnect()
    await Promise.all([ours.stop(), theirs.stop()])
  }
}

function buildOurGroup(run: string, itemId: string, k: number, group: object[]) {
  return {
    run,
    item_id: itemId,
    group_id: `${k}-${NUMBER_MARK}`,
    rollouts: group.map((arrays, n) => ({ completion: `<answer>${n}</answer>`, ...arrays })),
  }
}

function buildAtroposGroup(group: TokenArrays[]) {
  return {
    tokens: group.map((one) => one.tokens),
    masks: group.map((one) => one.masks),
    inference_logprobs: group.map((one) => one.logprobs),
    scores: group.map((_, k) => k % 2),
    env_id: 0,
  }
}

/** Half of what was posted, in batches; the first group is compared with what was sent. */
async function measureOurBatches(
  ours: OurServer,
  run: string,
  style: string,
  firstStep: number,
  all: TokenArrays[][],
): Promise<number> {
  const steps = GROUP_COUNT / (BATCH_SIZE / ROLLOUTS_PER_GROUP) / 2
  const start = performance.now()
  let first: ArrayBuffer | undefined
  for (let step = firstStep; step < firstStep + steps; step++) {
    const response = await fetch(`${ours.url}/runs/${run}/batches?arrays=${style}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
      body: JSON.stringify({ step }),
    })
    const bytes = await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`W6 out: ${response.status} ${decodeText(bytes).slice(0, 300)}`)
    first ??= bytes
    await callServer(ours, 'POST', `/runs/${run}/batches/${step}/ack`, {})
  }
  const rate = GROUP_COUNT / 2 / ((performance.now() - start) / 1000)
  const { groups } = JSON.parse(decodeText(first)) as {
    groups: { group_id: string; rollouts: { tokens: unknown }[] }[]
  } // as documented
  const [group] = groups
  const sent = all[Number(group?.group_id.split('-')[0])]?.[0]?.tokens
  const numbers = JSON.stringify(group?.rollouts[0]?.tokens) === JSON.stringify(sent)
  if (groups.length !== BATCH_SIZE / ROLLOUTS_PER_GROUP || (style === 'numbers' && !numbers))
    throw new Error('W6: the batch is not what was sent')
  return rate
}

/** Half as well; the others are forgotten. */
async function measureAtroposBatches(theirs: RunningProcess): Promise<number> {
  const start = performance.now()
  for (let groups = 0; groups < ATROPOS_GROUP_COUNT / 2; groups += BATCH_SIZE / ROLLOUTS_PER_GROUP) {
    const response = await fetch(`http://127.0.0.1:${theirs.port}/batch`, {
      headers: { 'accept-encoding': 'identity' },
    })
    const bytes = await response.arrayBuffer()
    if (!decodeText(bytes.slice(0, 10)).startsWith('{"batch":['))
      throw new Error(`W6: Atropos gave no more than ${groups} groups`)
  }
  const rate = ATROPOS_GROUP_COUNT / 2 / ((performance.now() - start) / 1000)
  await (await fetch(`http://127.0.0.1:${theirs.port}/reset_data`)).text()
  return rate
}

function decodeText(bytes: ArrayBuffer = new ArrayBuffer(0)): string {
  return Buffer.from(bytes).toString()
}

async function startAtropos(): Promise<RunningProcess> {
  const python = await prepareAtroposPython()
  const port = await getFreePort()
  const args = [
    '-m',
    'uvicorn',
    'atroposlib.api.server:app',
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--no-access-log',
    '--log-level',
    'warning',
  ]
  return startProcess([python, ...args], port, '/', PYTHON_ENV)
}

/** A trainer and an environment, as its protocol wants them before data. */
async function registerWithAtropos(theirs: RunningProcess): Promise<void> {
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    await (
      await fetch(`http://127.0.0.1:${theirs.port}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    ).text()
  }
  const trainer = {
    wandb_group: 'g',
    wandb_project: 'p',
    batch_size: BATCH_SIZE,
    max_token_len: TOKENS_PER_ROLLOUT,
    checkpoint_dir: '',
    save_checkpoint_interval: 0,
    starting_step: 0,
    num_steps: 1_000_000,
  }
  await post('/register', trainer)
  await (await fetch(`http://127.0.0.1:${theirs.port}/batch`)).text()
  await post('/register-env', {
    max_token_length: TOKENS_PER_ROLLOUT,
    desired_name: 'bench',
    weight: 1,
    group_size: ROLLOUTS_PER_GROUP,
  })
}

/** The payloads of a deleted run are freed after the response. */
async function getSettledRedisMemory(redis: Redis): Promise<number> {
  for (let last = Number.POSITIVE_INFINITY; ; await sleep(500)) {
    const now = await getRedisMemory(redis)
    if (now > last * 0.99) return now
    last = now
  }
}

async function getRedisMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
}
