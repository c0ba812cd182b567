/** W10: 4,096 sockets of OpenEnv clients, all open and all playing at once; and OpenEnv's own server, with as many as it bears. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, BenchRow } from '../bench-row.ts'
import { prepareOpenenvPython } from '../environment.ts'
import type { OpenenvResult, OpenenvSpec } from '../load/openenv.ts'
import { BENCH_ARTIFACTS_DIR, getTreeUsage } from '../machine.ts'
import { callServer, type OurServer, startBaselineServer, startOurServer } from '../servers.ts'

const LOAD_SCRIPT = join(import.meta.dirname, '..', 'load', 'openenv.ts')
const OPENENV_SOCKETS = 4096
/** OpenEnv's server has a thread for each session. */
const BASELINE_SOCKETS = 256
const CONNECTING = 256
const EPISODES = 8
const IDLE_MS = 5000
const SETTLE_MS = 2500

export async function benchmarkOpenenvSockets(bench: Bench): Promise<BenchRow[]> {
  const server = await startOurServer()
  try {
    const asks = await makeAsks(server)
    const beside = await measureBeside(bench, server)
    const spec: OpenenvSpec = {
      url: `${server.url.replace('http', 'ws')}/openenv/ws`,
      sockets: OPENENV_SOCKETS,
      connecting: CONNECTING,
      episodes: EPISODES,
      asks,
      idleMs: 0,
    }
    await playOpenenv({ ...spec, sockets: 64 }) // warm
    const before = (await getTreeUsage(server.pid)).memoryMb
    const idle = await playOpenenv({ ...spec, episodes: 0, idleMs: IDLE_MS }, async () => {
      await sleep(SETTLE_MS)
      return (await getTreeUsage(server.pid)).memoryMb
    })
    const played = await playOpenenv(spec)
    bench.record('W10 idle', idle)
    bench.record('W10 played', played)
    return [...describe(played.result, ((idle.observed ?? before) - before) * 1024), ...beside]
  } finally {
    await server.stop()
  }
}

function describe(result: OpenenvResult, kilobytes: number): BenchRow[] {
  const { connectSeconds, playSeconds, episodes, wrong, errors, p50, p99 } = result
  const failed = wrong + Object.values(errors).reduce((sum, one) => sum + one, 0)
  const beside = `${Math.round(OPENENV_SOCKETS / connectSeconds)} connections/s, median step ${Math.round(p50)} ms ${JSON.stringify(errors)}`
  const row = (what: string, value: number, unit: string): BenchRow => ({
    work: 'W10',
    what: `${OPENENV_SOCKETS} OpenEnv sockets playing at once: ${what}`,
    value,
    unit,
    beside,
  })
  return [
    { ...row('errors', failed, ''), most: 0 },
    row('episodes', episodes / playSeconds, '/s'),
    { ...row('p99 of a step', p99, 'ms'), most: 10_000 },
    row('server memory per socket', kilobytes / OPENENV_SOCKETS, 'KiB'),
  ]
}

/** The same episodes on both servers, one after the other: each makes a dataset, takes its first item and scores an answer. */
async function measureBeside(bench: Bench, server: OurServer): Promise<BenchRow[]> {
  const spec = { sockets: BASELINE_SOCKETS, connecting: BASELINE_SOCKETS, episodes: EPISODES, idleMs: 0 }
  const asks = await makeDatasetAsks(server)
  const play = async (url: string) => {
    await playOpenenv({ ...spec, asks, url }) // warm
    return playOpenenv({ ...spec, asks, url })
  }
  const ours = await play(`${server.url.replace('http', 'ws')}/openenv/ws`)
  const baseline = await startBaselineServer(await prepareOpenenvPython(), 'openenv_server')
  try {
    const theirs = await play(`ws://127.0.0.1:${baseline.port}/ws`)
    bench.record('W10 beside, ours', ours)
    bench.record('W10 beside, theirs', theirs)
    const perSecond = ({ result }: typeof ours) => result.episodes / result.playSeconds
    const failed = ({ result: { wrong, errors } }: typeof ours) => JSON.stringify({ wrong, ...errors })
    return [
      {
        work: 'W10',
        what: `${BASELINE_SOCKETS} OpenEnv sockets playing at once: episodes vs. OpenEnv's own server`,
        value: perSecond(ours) / perSecond(theirs),
        unit: 'times',
        beside: `${Math.round(perSecond(ours))} /s ${failed(ours)} vs. ${Math.round(perSecond(theirs))}/s ${failed(theirs)}`,
      },
    ]
  } finally {
    await baseline.stop()
  }
}

async function makeDatasetAsks(server: OurServer): Promise<OpenenvSpec['asks']> {
  const seeds = Array.from({ length: 50 }, (_, k) => k)
  const { items } = (await callServer(server, 'POST', '/items', { task: 'leg_counting', seeds })) as {
    items: { id: string }[]
  } // as documented
  return Promise.all(
    items.map(async ({ id }, seed) => {
      const { answer } = (await callServer(server, 'GET', `/items/${id}?reveal=true`)) as { answer: string }
      return { reset: { dataset_name: 'leg_counting', seed, size: 1 }, step: { answer }, reward: 1 }
    }),
  )
}

async function makeAsks(server: OurServer): Promise<OpenenvSpec['asks']> {
  const { items } = (await callServer(server, 'POST', '/items', { task: 'leg_counting', seed: 1, count: 50 })) as {
    items: { id: string }[]
  } // as documented
  return Promise.all(
    items.map(async ({ id }, k) => {
      const { answer } = (await callServer(server, 'GET', `/items/${id}?reveal=true`)) as { answer: string }
      const isRight = k % 2 === 0
      const completion = `<think>Each of them has some legs.</think><answer>${isRight ? answer : ''}</answer>`
      return { reset: { item_id: id }, step: { completion }, reward: isRight ? 1 : 0 }
    }),
  )
}

/** Runs the clients in a process of their own; `observeOpen` runs while all are open. */
async function playOpenenv<T>(
  spec: OpenenvSpec,
  observeOpen?: () => Promise<T>,
): Promise<{ result: OpenenvResult; observed: T | undefined }> {
  const path = join(BENCH_ARTIFACTS_DIR, `openenv-${process.pid}.json`)
  writeFileSync(path, JSON.stringify(spec))
  const child = spawn(process.execPath, [LOAD_SCRIPT, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  const closed = once(child, 'close')
  await once(child.stdout, 'data')
  const observed = await observeOpen?.()
  await closed
  return { result: JSON.parse(text.slice(text.indexOf('\n'))) as OpenenvResult, observed }
}
