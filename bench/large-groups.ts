/**
 * What groups of 1 MB cost on their way through the server: `npm run bench:large-groups`. Processor time of the one API process, the
 * bytes that Redis holds, and the memory of the API while 64 posts of 4 MB come at once.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { startChildServer } from '../verification/support/with-server.ts'

const GROUP_COUNT = 96
const ROLLOUTS_PER_GROUP = 16
const TOKENS_PER_ROLLOUT = 2048
const TICKS_PER_S = 100

const generate = (n: number, of: (k: number) => number) => Array.from({ length: n }, (_, k) => of(k))

/** 16 rollouts of 2,048 tokens, with masks and log-probabilities as float32 prints them. */
function buildGroup(id: string, itemId: string, rollouts: number) {
  return {
    group_id: id,
    item_id: itemId,
    rollouts: generate(rollouts, (k) => k).map((rollout) => {
      const tokens = generate(TOKENS_PER_ROLLOUT, () => Math.floor(Math.random() * 151_000))
      return {
        completion: `${tokens
          .slice(0, 400)
          .map((token) => token.toString(36))
          .join(' ')} <answer>${rollout % 2 ? 100 : 1}</answer>`,
        tokens,
        masks: tokens.map((token, k) => (k < 256 ? -100 : token)),
        logprobs: generate(TOKENS_PER_ROLLOUT, (k) => (k < 256 ? 1 : Math.fround(Math.log(Math.random()) / 3))),
      }
    }),
  }
}

const server = await startChildServer({ API_PROCESSES: '1', WORKERS: '1', LOG_LEVEL: 'warn' })
const redis = new Redis(`${server.dataDir}/redis/redis.sock`)
redis.on('error', () => {})
try {
  const api = findPid('api.ts')
  const call = async (path: string, body: unknown) => {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  const { items } = JSON.parse((await call('/items', { task: 'leg_counting', seed: 42 })).bytes.toString()) as {
    items: { id: string }[]
  }
  const itemId = items[0]?.id ?? ''

  // In.
  const bodies = generate(GROUP_COUNT, (k) => k).map((k) =>
    JSON.stringify({ run: 'big', ...buildGroup(`g${k}`, itemId, ROLLOUTS_PER_GROUP) }),
  )
  const bytes = bodies.reduce((sum, body) => sum + body.length, 0) / GROUP_COUNT
  await runConcurrently(
    bodies.slice(0, 16).map((body) => () => call('/rollouts', body)),
    4,
  ) // warm
  await waitUntilScored()
  const before = await getRedisMemory()
  const busyIn = getCpuSeconds(api)
  await runConcurrently(
    bodies.slice(16).map((body) => () => call('/rollouts', body)),
    8,
  )
  const inRate = (GROUP_COUNT - 16) / (getCpuSeconds(api) - busyIn)
  await waitUntilScored()
  const held = ((await getRedisMemory()) - before) / (GROUP_COUNT - 16)
  printFigure('a group as JSON', `${(bytes / 1e6).toFixed(2)} MB`)
  printFigure('in Redis', `${(held / 1e6).toFixed(3)} MB, ${(held / bytes).toFixed(2)} of its JSON`)
  printFigure('in, a second of the API’s processor', `${inRate.toFixed(0)} groups`)

  // Out.
  for (const style of ['numbers', 'base64']) {
    const first = style === 'numbers' ? 0 : 4
    const busyOut = getCpuSeconds(api)
    let groups = 0
    for (let step = first; step < first + 4; step++) {
      await call(`/runs/big/batches?arrays=${style}`, { step })
      await call(`/runs/big/batches?arrays=${style}`, { step }) // the same again costs the same
      groups += 2 * (128 / ROLLOUTS_PER_GROUP)
    }
    printFigure(`out as ${style}`, `${(groups / (getCpuSeconds(api) - busyOut)).toFixed(0)} groups`)
  }

  // 64 posts of 4 MB at once.
  const idle = getResidentMb(api)
  const large = generate(64, (k) => k).map((k) =>
    JSON.stringify({ run: 'large', ...buildGroup(`l${k}`, itemId, 4 * ROLLOUTS_PER_GROUP) }),
  )
  let peak = 0
  const watch = setInterval(() => {
    peak = Math.max(peak, getResidentMb(api))
  }, 20)
  const answers = await Promise.all(large.map((body) => call('/rollouts', body)))
  clearInterval(watch)
  printFigure('64 posts of 4 MB at once', `${answers.filter(({ status }) => status === 202).length} accepted`)
  printFigure('memory of the API', `${idle} MB before, ${peak} MB at most`)
} finally {
  redis.disconnect()
  await server.stop()
}

function printFigure(what: string, figure: string): void {
  console.log(`${what.padEnd(40)} ${figure}`)
}

async function runConcurrently(asks: (() => Promise<{ status: number }>)[], atOnce: number): Promise<void> {
  const lanes = generate(atOnce, (lane) => lane).map(async (lane) => {
    for (let k = lane; k < asks.length; k += atOnce) {
      const answer = await asks[k]?.()
      if (answer && answer.status >= 300) throw new Error(`refused with ${answer.status}`)
    }
  })
  await Promise.all(lanes)
}

/** Until all groups are scored: what is queued takes other memory than what is buffered. */
async function waitUntilScored(): Promise<void> {
  for (;;) {
    const run = (await (await fetch(`${server.url}/runs/big`)).json()) as { progress: { queued_groups: number } }
    if (run.progress.queued_groups === 0) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function getRedisMemory(): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
}

function findPid(script: string): number {
  const rows = execFileSync('ps', ['-eo', 'pid,ppid,args']).toString().split('\n')
  const row = rows
    .map((line) => line.trim().split(/\s+/))
    .find((words) => words[1] === String(server.pid) && words.some((word) => word.endsWith(script)))
  return Number(row?.[0])
}

function getCpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S
}

function getResidentMb(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
}
