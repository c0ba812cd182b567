/**
 * W4: POST /items for a run over all tasks: paced so that prepared items are there, then faster than they can be made. Then by
 * recipe, for items that nobody has asked for before. Then in steps, at a share of what the machine makes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { assertNoErrors, type Bench, type BenchRow } from '../bench-row.ts'
import { runLoad, writeLoadRequests } from '../load/run.ts'
import { getTreeCpuSeconds } from '../machine.ts'
import { callServer, type OurServer, startOurServer } from '../servers.ts'

/**
 * 600 calls on average, by the load generator, since this process would add the time of its own garbage collector. They start when
 * the server's processes have given back the memory that their start needed.
 */
const PACED_LOAD = { connections: 1, pauseMs: 100, warmupS: 20, seconds: 60, anywhere: true }
/** A trainer that asks for a step's items has worked for longer than this since it last asked. */
const PAUSE_OF_64_MS = 3000
const CALLS_OF_64 = 8
const DRAINING_CALLS = 20
const LARGEST_STEP = 128
/** How long each load of steps lasts. */
const STEPS_MS = 40_000
/** By recipe, of each task. */
const COLD_ITEMS_PER_TASK = 16
const COLD_CONNECTIONS = 8

export async function benchmarkItems({ record: keep }: Bench): Promise<BenchRow[]> {
  const server = await startOurServer()
  try {
    for (const run of ['one', 'many']) await callServer(server, 'PUT', `/runs/${run}`, {})
    await requestItems(server, 'one', 1)
    await sleep(PAUSE_OF_64_MS)
    const asks = writeLoadRequests('one-item', [{ path: '/items', body: JSON.stringify({ run: 'one', count: 1 }) }])
    const one = await runLoad({ ...PACED_LOAD, port: server.port, server: server.pid, asks })
    assertNoErrors('W4', one)
    await requestItems(server, 'many', 64)
    const many: number[] = []
    for (let k = 0; k < CALLS_OF_64; k++) {
      await sleep(PAUSE_OF_64_MS)
      many.push(await requestItems(server, 'many', 64))
    }
    const empty: number[] = []
    for (let k = 0; k < DRAINING_CALLS; k++) empty.push(await requestItems(server, 'many', 64))
    const cold = await makeColdItems(server)
    const steps = await measureSteps(server)
    keep('W4', { one, many, empty, cold, steps })
    return [
      {
        work: 'W4',
        what: 'POST /items, count 1, prefetched: p99',
        value: one.p99 ?? Number.NaN,
        unit: 'ms',
        most: 5,
        beside: `${one.requests} calls, ${PACED_LOAD.pauseMs} ms apart; median ${one.p50?.toFixed(2)} ms, slowest ${one.max?.toFixed(1)} ms`,
      },
      {
        work: 'W4',
        what: 'POST /items, count 64, prefetched: slowest',
        value: Math.max(...many),
        unit: 'ms',
        most: 50,
        beside: `${CALLS_OF_64} calls, ${PAUSE_OF_64_MS / 1000} s apart`,
      },
      {
        work: 'W4',
        what: 'POST /items, count 64, back to back until nothing is prefetched: slowest',
        value: Math.max(...empty),
        unit: 'ms',
        most: 2000,
      },
      {
        work: 'W4',
        what: 'POST /items by recipe, never requested before, all tasks in turn',
        value: cold.items / cold.cpuSeconds,
        unit: 'items per second of CPU',
        beside: `${cold.items} items; ${Math.round(cold.items / cold.seconds)} items/s on the whole machine`,
      },
      ...steps,
    ]
  } finally {
    await server.stop()
  }
}

/** The wait of a trainer whose steps use a share of the items that the machine can make; it trains on all tasks. */
async function measureSteps(server: OurServer): Promise<BenchRow[]> {
  await callServer(server, 'PUT', '/runs/steps', {})
  const start = performance.now()
  let made = 0
  for (; performance.now() - start < STEPS_MS; made += LARGEST_STEP) await requestItems(server, 'steps', LARGEST_STEP)
  const perMs = made / (performance.now() - start)
  const rows: BenchRow[] = []
  for (const count of [1, 16, LARGEST_STEP]) {
    for (const share of [0.5, 0.9]) {
      await sleep(PAUSE_OF_64_MS)
      const waits: number[] = []
      const everyMs = count / (perMs * share)
      const first = performance.now()
      for (let k = 0; k * everyMs < STEPS_MS; k++) {
        await sleep(Math.max(0, first + k * everyMs - performance.now()))
        waits.push(await requestItems(server, 'steps', count))
      }
      const [p50, p99] = [0.5, 0.99].map((part) => waits.toSorted((a, b) => a - b)[Math.floor(waits.length * part)])
      rows.push({
        work: 'W4',
        what: `POST /items, ${count} ${count === 1 ? 'group' : 'groups'} a step, at ${share * 100}% of what the machine makes: p50`,
        value: p50 ?? Number.NaN,
        unit: 'ms',
        beside: `p99 ${p99?.toFixed(1)} ms; ${waits.length} steps, ${Math.round(everyMs)} ms apart; the machine makes ${Math.round(perMs * 1000)} items/s`,
      })
    }
  }
  return rows
}

/** The CPU time is that of the whole server with its Python processes; prefetching for the runs has ended before. */
async function makeColdItems(server: OurServer) {
  await Promise.all(['one', 'many'].map((run) => callServer(server, 'DELETE', `/runs/${run}`)))
  await sleep(PAUSE_OF_64_MS)
  const { tasks } = (await callServer(server, 'GET', '/tasks')) as { tasks: { name: string }[] } // as documented
  const recipes = Array.from({ length: COLD_ITEMS_PER_TASK }, (_, k) =>
    tasks.map(({ name }) => ({ task: name, seed: 1000 + k })),
  ).flat()
  const items = recipes.length
  const [before, start] = [await getTreeCpuSeconds(server.pid), performance.now()]
  const connections = Array.from({ length: COLD_CONNECTIONS }, async () => {
    for (let recipe = recipes.pop(); recipe; recipe = recipes.pop()) await callServer(server, 'POST', '/items', recipe)
  })
  await Promise.all(connections)
  const seconds = (performance.now() - start) / 1000
  return { items, seconds, cpuSeconds: (await getTreeCpuSeconds(server.pid)) - before }
}

async function requestItems(server: OurServer, run: string, count: number): Promise<number> {
  const start = performance.now()
  const given = (await callServer(server, 'POST', '/items', { run, count })) as { items: unknown[] } // as documented
  const ms = performance.now() - start
  if (given.items.length === 0) throw new Error('W4: no items came')
  return ms
}
