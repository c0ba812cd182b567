/** W9: more workers, more groups: on an engine that waits and takes no processor, the queue must not be the limit. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { getFreePort } from '../../src/main/bootstrap/child-server.ts'
import { assertNoErrors, type Bench, type BenchRow } from '../bench-row.ts'
import { NUMBER_MARK } from '../load/requests.ts'
import { runLoad, writeLoadRequests } from '../load/run.ts'
import { callServer, type OurServer, startProcess, waitUntilScored } from '../servers.ts'
import { SIMULATED_TASK, WORKER_CONCURRENCY } from '../simulated-scoring.ts'

const WORKER_COUNTS = [1, 2, 4, 8, 16, 32]
/** Groups of each worker: so many times what it has in hand at once, more where few make the rate. */
const GROUPS_PER_SLOT = 6
const GROUPS_PER_SLOT_ALONE = 12
/** The rate is that between these shares of the groups: all workers have their hands full then, and are out of step. */
const [FROM, TO] = [0.25, 0.85]
const POLL_INTERVAL_MS = 25
const PREFIX = 'rgs'
const WORKER_SCRIPT = join(import.meta.dirname, '..', 'simulated-worker.ts')

export async function benchmarkWorkers({ record: keep }: Bench): Promise<BenchRow[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'rgs-bench-'))
  const port = await getFreePort()
  const serve = join(import.meta.dirname, '..', '..', 'src', 'main', 'serve.ts')
  const env = {
    ...process.env,
    PORT: String(port),
    DATA_DIR: dataDir,
    WORKERS: '0',
    API_PROCESSES: '1',
    LOG_LEVEL: 'warn',
  }
  const running = await startProcess([process.execPath, serve], port, '/readyz', env)
  const server: OurServer = { ...running, url: `http://127.0.0.1:${port}`, dataDir }
  const socket = join(dataDir, 'redis', 'redis.sock')
  const connection = new Redis(socket, { maxRetriesPerRequest: null })
  connection.on('error', () => {})
  const children: ChildProcess[] = []
  try {
    const queue = new Queue('score-group', { connection, prefix: `{${PREFIX}:jobs}` })
    const { items } = (await callServer(server, 'POST', '/items', { task: SIMULATED_TASK, seed: 1 })) as {
      items: { id: string }[]
    } // as documented
    const rates: number[] = []
    for (const many of WORKER_COUNTS) {
      const more = Array.from({ length: many - children.length }, () => fork(WORKER_SCRIPT, [socket, PREFIX]))
      children.push(...more)
      await Promise.all(more.map((child) => once(child, 'message'))) // that it listens
      const run = `workers-${many}`
      await callServer(server, 'PUT', `/runs/${run}`, { buffer_max_groups: 1_000_000, drop_equal_scores: false })
      const rollouts = Array.from({ length: 4 }, (_, k) => ({ completion: `<answer>${k}</answer>` }))
      const body = JSON.stringify({ run, item_id: items[0]?.id, group_id: NUMBER_MARK, rollouts })
      const asks = writeLoadRequests('workers', [{ path: '/rollouts', body }])
      const count = many * WORKER_CONCURRENCY * (many === 1 ? GROUPS_PER_SLOT_ALONE : GROUPS_PER_SLOT)
      await queue.pause()
      assertNoErrors(
        'W9',
        await runLoad({
          port,
          server: server.pid,
          asks,
          count,
          warmupS: 0,
          connections: 8,
          anywhere: true,
        }),
      )
      await queue.resume()
      const rate = await measureSteadyRate(server, run, count)
      await waitUntilScored(server, run, count)
      rates.push(rate)
      keep('W9', { workers: many, groups: count, rate })
    }
    await queue.close()
    const [one = 1] = rates
    return WORKER_COUNTS.map((many, k): BenchRow => {
      const rate = rates[k] ?? 0
      const beside = `${rate.toFixed(1)} groups/s`
      return {
        work: 'W9',
        what: `${many} workers on a simulated engine vs. ${many} × one`,
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
async function measureSteadyRate(server: OurServer, run: string, groups: number): Promise<number> {
  const passed = async (share: number): Promise<{ at: number; scored: number }> => {
    for (;;) {
      const { progress } = (await callServer(server, 'GET', `/runs/${run}`)) as { progress: { scored_groups: number } } // as documented
      const { scored_groups: scored } = progress
      if (scored >= share * groups) return { at: performance.now(), scored }
      await sleep(POLL_INTERVAL_MS)
    }
  }
  const first = await passed(FROM)
  const last = await passed(TO)
  return ((last.scored - first.scored) * 1000) / (last.at - first.at)
}
