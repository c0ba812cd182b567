/**
 * W12: POST /score in an open loop: requests arrive by a clock, however slow the responses are, and each latency counts from the
 * planned arrival. At shares of the measured capacity, without and with a hostile answer a second. All tasks; each request has an item of its own, made before.
 */
import { assertNoErrors, type Bench, type BenchRow } from '../bench-row.ts'
import { type ItemCompletions, makeCompletions, writeItemRequests, writeOurRequests } from '../completions.ts'
import { prepareBaselinePython } from '../environment.ts'
import { startHostileClient } from '../hostile.ts'
import { type LoadMeasurement, type LoadParams, runLoad } from '../load/run.ts'
import { waitUntilIdle } from '../machine.ts'
import { type OurServer, startOurServer } from '../servers.ts'

const SHARES_OF_CAPACITY = [0.5, 0.8, 0.95]
const CAPACITY_REQUESTS = 1050
const WARMUP_MEASUREMENTS = 3
/** So many may wait for their responses before a request that is due waits for a connection. */
const CONNECTIONS = 256

export async function benchmarkOpenLoop(bench: Bench): Promise<BenchRow[]> {
  const python = await prepareBaselinePython()
  const server = await startOurServer({ API_PROCESSES: '1', WORKERS: '1' }, { onOneCore: true })
  try {
    const take = (requests: number) => makeCompletions(python, 'mix', requests)
    for (let k = 0; k < WARMUP_MEASUREMENTS; k++)
      await measure(bench, server, 'warm-up', await take(CAPACITY_REQUESTS), { connections: 64 })
    const full = await measure(bench, server, 'capacity', await take(CAPACITY_REQUESTS), { connections: 64 })
    const { perSecond: capacity } = full
    const rows: BenchRow[] = [buildCapacityRow(full)]
    for (const share of SHARES_OF_CAPACITY) {
      const arrivalsPerSecond = share * capacity
      const requests = Math.ceil(arrivalsPerSecond * bench.seconds)
      const load = { arrivalsPerSecond, connections: CONNECTIONS }
      const name = `${Math.round(share * 100)}% of capacity`
      const calm = await measure(bench, server, name, await take(requests), load)
      const hostile = `${name}, with a hostile answer a second`
      const beside = await measure(bench, server, hostile, await take(requests), load, startHostileClient)
      rows.push(buildRow(name, calm, arrivalsPerSecond), buildRow(hostile, beside, arrivalsPerSecond))
    }
    return rows
  } finally {
    await server.stop()
  }
}

async function measure(
  bench: Bench,
  server: OurServer,
  what: string,
  completions: ItemCompletions[],
  load: Partial<LoadParams>,
  startBeside: (server: OurServer) => () => void = () => () => {},
): Promise<LoadMeasurement> {
  const at = { port: server.port, server: server.pid, count: completions.length, warmupS: 0, timeoutS: 120 }
  await runLoad({ ...at, asks: writeItemRequests('open-loop', completions) })
  await waitUntilIdle(server.pid)
  const asks = writeOurRequests('open-loop', completions)
  const endBeside = startBeside(server)
  const found = await runLoad({ ...at, asks, ...load }).finally(endBeside)
  assertNoErrors(`W12 ${what}`, found)
  bench.record(`W12 ${what}`, found)
  await waitUntilIdle(server.pid)
  return found
}

/** Of all tasks, on one core. */
function buildCapacityRow({ unitsPerSecond, p99 }: LoadMeasurement): BenchRow {
  return {
    work: 'W12',
    what: 'all tasks, new items made before, in a closed loop',
    value: unitsPerSecond,
    unit: 'completions/s',
    least: 5000,
    beside: `p99 ${p99?.toPrecision(3)} ms`,
  }
}

function buildRow(name: string, { p50, p99, p999, max }: LoadMeasurement, perSecond: number): BenchRow {
  const [median = '', most = '', slowest = ''] = [p50, p999, max].map((ms) => ms?.toPrecision(3))
  return {
    work: 'W12',
    what: `all tasks, new items made before, requests by a clock, ${name}: p99`,
    value: p99 ?? Number.NaN,
    unit: 'ms',
    beside: `${Math.round(perSecond)} requests/s; median ${median} ms, p99.9 ${most} ms, slowest ${slowest} ms`,
  }
}
