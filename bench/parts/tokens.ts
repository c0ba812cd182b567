/** W6: groups of 1 MB, 16 rollouts of 2,048 tokens with masks and log-probabilities: in, and out as batches; beside Atropos. */
import { Redis } from 'ioredis'
import { freePort } from '../../src/prepare/own-server.ts'
import { PYTHON_ENVIRONMENT, pythonOfAtropos } from '../environment.ts'
import { NUMBER_MARK } from '../load/asks.ts'
import { load, writeAsks } from '../load/run.ts'
import { processesBelow } from '../machine.ts'
import { assertRight, type Bench, median, type Row } from '../rows.ts'
import { call, type Ours, type Running, startOurs, startProcess } from '../servers.ts'
import { settled } from '../waiting.ts'

const GROUPS = 384
/** Atropos takes a fifth of the groups a second: as many would take minutes. */
const THEIR_GROUPS = 192
/** Different ones; each is sent as several groups. */
const BODIES = 64
const ROLLOUTS = 16
const TOKENS = 2048
const PROMPT = 256
const BATCH = 128

interface Arrays {
  tokens: number[]
  masks: number[]
  logprobs: number[]
}

export async function tokens(bench: Bench): Promise<Row[]> {
  const ours = await startOurs()
  const theirs = await startAtropos()
  const redis = new Redis(`${ours.dataDir}/redis/redis.sock`)
  redis.on('error', () => {})
  let peak = 0
  const watch = setInterval(() => {
    const apis = processesBelow(ours.pid).filter(({ command }) => command.includes('api.ts'))
    peak = Math.max(peak, ...apis.map(({ memoryMb }) => Math.round(memoryMb)))
  }, 250)
  try {
    const all = Array.from({ length: BODIES }, groupOfTokens)
    const { items } = (await call(ours, 'POST', '/items', { task: 'chain_sum', seed: 1 })) as {
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
    const postAll = async (name: string, arraysOf: (arrays: Arrays) => object) => {
      const settings = { batch_size: BATCH, drop_equal_scores: false, buffer_max_groups: 10_000 }
      await call(ours, 'PUT', `/runs/${name}`, settings)
      const bodies = all.map((group, k) => ({
        path: '/rollouts',
        body: JSON.stringify(oursOf(name, items[0]?.id ?? '', k, group.map(arraysOf))),
      }))
      const posted = await load({
        port: ours.port,
        server: ours.pid,
        asks: writeAsks(name, bodies),
        count: GROUPS,
        warmupS: 0,
        connections: 8,
        anywhere: true,
      })
      assertRight('W6 in', posted)
      const start = performance.now()
      await settled(ours, name, GROUPS)
      const buffered = GROUPS / (posted.seconds + (performance.now() - start) / 1000)
      return { posted, buffered, bytes: bodies.reduce((sum, { body }) => sum + body.length, 0) }
    }
    // Not measured: V8 compiles what is busy. Python does not.
    for (const [name, arraysOf] of [
      ['warm', (arrays: Arrays) => arrays],
      ['warm-typed', typedOf],
    ] as const) {
      await postAll(name, arraysOf)
      await call(ours, 'DELETE', `/runs/${name}`)
    }
    for (let round = 0; round < bench.rounds; round++) {
      const run = `tokens-${round}`
      const before = await memoryOf(redis)
      const { posted, buffered, bytes } = await postAll(run, (arrays) => arrays)
      json = bytes
      found.in.push(buffered)
      found.accepted.push(posted.perSecond)
      found.share.push(((await memoryOf(redis)) - before) / (json * (GROUPS / BODIES)))
      found.out.push(await takeOurs(ours, run, 'numbers', 0, all))
      found.typed.push(await takeOurs(ours, run, 'base64', GROUPS / (BATCH / ROLLOUTS) / 2, all))
      await call(ours, 'DELETE', `/runs/${run}`)
      const typed = await postAll(`typed-${round}`, typedOf)
      found.typedIn.push(typed.posted.perSecond)
      await call(ours, 'DELETE', `/runs/typed-${round}`)

      const asks = all.map((group) => ({ path: '/scored_data', body: JSON.stringify(theirsOf(group)) }))
      await register(theirs)
      const sent = await load({
        port: theirs.port,
        server: theirs.pid,
        asks: writeAsks('tokens-theirs', asks),
        count: THEIR_GROUPS,
        warmupS: 0,
        connections: 8,
        anywhere: true,
      })
      assertRight('W6 Atropos in', sent)
      found.theirIn.push(sent.perSecond)
      found.theirOut.push(await takeTheirs(theirs))
      bench.keep('W6', {
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
    const row = (what: string, us: number[], them: number[], least?: number): Row => ({
      work: 'W6',
      what,
      value: median(us.map((rate, k) => rate / (them[k] ?? Number.NaN))),
      unit: '×',
      ...(least !== undefined && { least }),
      beside: `${median(us).toFixed(0)} to ${median(them).toFixed(0)} groups a second, all cores`,
    })
    const { accepted, typedIn, out, typed, theirIn, theirOut } = found
    return [
      row('1 MB groups in, accepted and on disk, to Atropos', accepted, theirIn, 4),
      row('1 MB groups in, until scored and buffered, to Atropos, which does not score', found.in, theirIn, 4),
      row('the same groups in, sent as typed arrays, to Atropos, which takes numbers alone', typedIn, theirIn),
      row('1 MB groups out as batches of JSON numbers, to Atropos', out, theirOut, 10),
      row('1 MB groups out as typed arrays, to Atropos', typed, theirOut),
      { work: 'W6', what: 'memory of an API process, at most', value: peak, unit: 'MB', most: 500 },
      {
        work: 'W6',
        what: 'a buffered group in Redis, to its JSON',
        value: median(found.share),
        unit: '×',
        most: 0.5,
        beside: `JSON ${(json / BODIES / 1e6).toFixed(2)} MB a group`,
      },
    ]
  } finally {
    clearInterval(watch)
    redis.disconnect()
    await Promise.all([ours.stop(), theirs.stop()])
  }
}

function groupOfTokens(): Arrays[] {
  return Array.from({ length: ROLLOUTS }, () => {
    const list = Array.from({ length: TOKENS }, () => Math.floor(Math.random() * 151_000))
    return {
      tokens: list,
      masks: list.map((token, k) => (k < PROMPT ? -100 : token)),
      logprobs: list.map((_, k) => (k < PROMPT ? 1 : Math.fround(Math.log(1 - Math.random()) / 3))),
    }
  })
}

function typedOf({ tokens: list, masks, logprobs }: Arrays) {
  const typed = (dtype: string, { buffer }: Int32Array | Float32Array) => ({
    dtype,
    data: Buffer.from(buffer).toString('base64'),
  })
  return {
    tokens: typed('int32', Int32Array.from(list)),
    masks: typed('int32', Int32Array.from(masks)),
    logprobs: typed('float32', Float32Array.from(logprobs)),
  }
}

function oursOf(run: string, itemId: string, k: number, group: object[]) {
  return {
    run,
    item_id: itemId,
    group_id: `${k}-${NUMBER_MARK}`,
    rollouts: group.map((arrays, n) => ({ completion: `<answer>${n}</answer>`, ...arrays })),
  }
}

function theirsOf(group: Arrays[]) {
  return {
    tokens: group.map((one) => one.tokens),
    masks: group.map((one) => one.masks),
    inference_logprobs: group.map((one) => one.logprobs),
    scores: group.map((_, k) => k % 2),
    env_id: 0,
  }
}

/** Half of what was posted, in batches; the first group is compared with what was sent. */
async function takeOurs(ours: Ours, run: string, style: string, firstStep: number, all: Arrays[][]): Promise<number> {
  const steps = GROUPS / (BATCH / ROLLOUTS) / 2
  const start = performance.now()
  let first: ArrayBuffer | undefined
  for (let step = firstStep; step < firstStep + steps; step++) {
    const response = await fetch(`${ours.url}/runs/${run}/batches?arrays=${style}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
      body: JSON.stringify({ step }),
    })
    const bytes = await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`W6 out: ${response.status} ${textOf(bytes).slice(0, 300)}`)
    first ??= bytes
    await call(ours, 'POST', `/runs/${run}/batches/${step}/ack`, {})
  }
  const rate = GROUPS / 2 / ((performance.now() - start) / 1000)
  const { groups } = JSON.parse(textOf(first)) as { groups: { group_id: string; rollouts: { tokens: unknown }[] }[] } // as documented
  const [group] = groups
  const sent = all[Number(group?.group_id.split('-')[0])]?.[0]?.tokens
  const numbers = JSON.stringify(group?.rollouts[0]?.tokens) === JSON.stringify(sent)
  if (groups.length !== BATCH / ROLLOUTS || (style === 'numbers' && !numbers))
    throw new Error('W6: the batch is not what was sent')
  return rate
}

/** Half as well; the others are forgotten. */
async function takeTheirs(theirs: Running): Promise<number> {
  const start = performance.now()
  for (let groups = 0; groups < THEIR_GROUPS / 2; groups += BATCH / ROLLOUTS) {
    const response = await fetch(`http://127.0.0.1:${theirs.port}/batch`, {
      headers: { 'accept-encoding': 'identity' },
    })
    const bytes = await response.arrayBuffer()
    if (!textOf(bytes.slice(0, 10)).startsWith('{"batch":['))
      throw new Error(`W6: Atropos gave no more than ${groups} groups`)
  }
  const rate = THEIR_GROUPS / 2 / ((performance.now() - start) / 1000)
  await (await fetch(`http://127.0.0.1:${theirs.port}/reset_data`)).text()
  return rate
}

function textOf(bytes: ArrayBuffer = new ArrayBuffer(0)): string {
  return Buffer.from(bytes).toString()
}

async function startAtropos(): Promise<Running> {
  const python = await pythonOfAtropos()
  const port = await freePort()
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
  return startProcess([python, ...args], port, '/', PYTHON_ENVIRONMENT)
}

/** A trainer and an environment, as its protocol wants them before data. */
async function register(theirs: Running): Promise<void> {
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    await (
      await fetch(`http://127.0.0.1:${theirs.port}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    ).text()
  }
  const trainer = {
    wandb_group: 'g',
    wandb_project: 'p',
    batch_size: BATCH,
    max_token_len: TOKENS,
    checkpoint_dir: '',
    save_checkpoint_interval: 0,
    starting_step: 0,
    num_steps: 1_000_000,
  }
  await post('/register', trainer)
  await (await fetch(`http://127.0.0.1:${theirs.port}/batch`)).text()
  await post('/register-env', { max_token_length: TOKENS, desired_name: 'bench', weight: 1, group_size: ROLLOUTS })
}

async function memoryOf(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
}
