/** W9: more workers, more groups: on an engine that waits and takes no processor, the queue must not be the limit. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { freePort } from '../../src/prepare/own-server.ts'
import { NUMBER_MARK } from '../load/asks.ts'
import { load, writeAsks } from '../load/run.ts'
import { assertRight, type Bench, type Row } from '../rows.ts'
import { call, type Ours, startProcess } from '../servers.ts'
import { settled } from '../waiting.ts'
import { AT_ONCE, WAIT_MS } from '../waiting-engine.ts'

const STEPS = [1, 2, 4, 8, 16, 32]
/** Groups of each worker: so many times what it has in hand at once, more where few make the rate. */
const WAVES = 6
const WAVES_OF_ONE = 12
/** The rate is that between these shares of the groups: all workers have their hands full then, and are out of step. */
const [FROM, TO] = [0.25, 0.85]
const LOOK_EVERY_MS = 25
const PREFIX = 'rgs'
const WORKER = join(import.meta.dirname, '..', 'waiting-worker.ts')

export async function workers({ keep }: Bench): Promise<Row[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'rgs-bench-'))
  const port = await freePort()
  const serve = join(import.meta.dirname, '..', '..', 'src', 'serve.ts')
  const env = {
    ...process.env,
    PORT: String(port),
    DATA_DIR: dataDir,
    WORKERS: '0',
    API_PROCESSES: '1',
    LOG_LEVEL: 'warn',
  }
  const running = await startProcess([process.execPath, serve], port, '/readyz', env)
  const server: Ours = { ...running, url: `http://127.0.0.1:${port}`, dataDir }
  const socket = join(dataDir, 'redis', 'redis.sock')
  const connection = new Redis(socket, { maxRetriesPerRequest: null })
  connection.on('error', () => {})
  const children: ChildProcess[] = []
  try {
    const queue = new Queue('score-group', { connection, prefix: `{${PREFIX}:jobs}` })
    const { items } = (await call(server, 'POST', '/items', { task: 'chain_sum', seed: 1 })) as {
      items: { id: string }[]
    } // as documented
    const rates: number[] = []
    for (const many of STEPS) {
      const more = Array.from({ length: many - children.length }, () => fork(WORKER, [socket, PREFIX]))
      children.push(...more)
      await Promise.all(more.map((child) => once(child, 'message'))) // that it listens
      const run = `workers-${many}`
      await call(server, 'PUT', `/runs/${run}`, { buffer_max_groups: 1_000_000, drop_equal_scores: false })
      const rollouts = Array.from({ length: 4 }, (_, k) => ({ completion: `<answer>${k}</answer>` }))
      const groups = Array.from({ length: 16 }, (_, k) => ({
        item_id: items[0]?.id,
        group_id: `${NUMBER_MARK}-${k}`,
        rollouts,
      }))
      const asks = writeAsks('workers', [{ path: '/rollouts', body: JSON.stringify({ run, groups }) }])
      const count = many * AT_ONCE * (many === 1 ? WAVES_OF_ONE : WAVES)
      await queue.pause()
      assertRight(
        'W9',
        await load({ port, server: server.pid, asks, count: count / 16, warmupS: 0, connections: 8, anywhere: true }),
      )
      await queue.resume()
      const rate = await steadyRate(server, run, count)
      await settled(server, run, count)
      rates.push(rate)
      keep('W9', { workers: many, groups: count, rate, ideal: (many * AT_ONCE * 1000) / WAIT_MS })
    }
    await queue.close()
    const [one = 1] = rates
    return STEPS.map((many, k): Row => {
      const rate = rates[k] ?? 0
      const beside = `${rate.toFixed(1)} groups a second; without any loss ${((many * AT_ONCE * 1000) / WAIT_MS).toFixed(0)}`
      return {
        work: 'W9',
        what: `${many} workers on an engine that waits, to ${many} × one`,
        value: rate / one / many,
        unit: '×',
        ...(many > 1 && { least: 0.9 }),
        beside,
      }
    })
  } finally {
    connection.disconnect()
    for (const child of children) child.kill('SIGKILL')
    await running.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Groups a second while the workers have their hands full. */
async function steadyRate(server: Ours, run: string, groups: number): Promise<number> {
  const passed = async (share: number): Promise<{ at: number; scored: number }> => {
    for (;;) {
      const { progress } = (await call(server, 'GET', `/runs/${run}`)) as { progress: { scored_groups: number } } // as documented
      const { scored_groups: scored } = progress
      if (scored >= share * groups) return { at: performance.now(), scored }
      await sleep(LOOK_EVERY_MS)
    }
  }
  const first = await passed(FROM)
  const last = await passed(TO)
  return ((last.scored - first.scored) * 1000) / (last.at - first.at)
}
