/**
 * W12: POST /score in an open loop: requests arrive by a clock, however slow the responses are, and each latency counts from the
 * planned arrival. At shares of the measured capacity, without and with a hostile answer a second.
 */
import { assertNoErrors, type Bench, type BenchRow } from '../bench-row.ts'
import { type ItemCompletions, makeCompletions, writeOurRequests } from '../completions.ts'
import { prepareBaselinePython } from '../environment.ts'
import { startHostileClient } from '../hostile.ts'
import { type LoadMeasurement, type LoadParams, runLoad } from '../load/run.ts'
import { waitUntilIdle } from '../machine.ts'
import { type OurServer, startOurServer } from '../servers.ts'

const SHARES_OF_CAPACITY = [0.5, 0.8, 0.95]
const CAPACITY_REQUESTS = 1500
/** So many may wait for their responses before a request that is due waits for a connection. */
const CONNECTIONS = 256

export async function benchmarkOpenLoop(bench: Bench): Promise<BenchRow[]> {
  const python = await prepareBaselinePython()
  const server = await startOurServer({ API_PROCESSES: '1', WORKERS: '1' }, { onOneCore: true })
  try {
    const { all } = await makeCompletions(python, 'mix', 2 * CAPACITY_REQUESTS)
    const first = all.splice(0, CAPACITY_REQUESTS) // makes the items
    await measure(bench, server, 'first contact', first, {})
    const { perSecond: capacity } = await measure(bench, server, 'capacity', all, { connections: 64 })
    const rows: BenchRow[] = []
    for (const share of SHARES_OF_CAPACITY) {
      const arrivalsPerSecond = share * capacity
      const requests = Math.ceil(arrivalsPerSecond * bench.seconds)
      const load = { arrivalsPerSecond, connections: CONNECTIONS }
      const made = await makeCompletions(python, 'mix', 2 * requests)
      const name = `${Math.round(share * 100)}% of capacity`
      const calm = await measure(bench, server, name, made.all.slice(0, requests), load)
      const hostile = `${name}, with a hostile answer a second`
      const end = startHostileClient(server)
      const beside = await measure(bench, server, hostile, made.all.slice(requests), load).finally(end)
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
): Promise<LoadMeasurement> {
  const asks = writeOurRequests('open-loop', completions)
  const at = { port: server.port, server: server.pid, asks, count: completions.length, warmupS: 0, timeoutS: 120 }
  const found = await runLoad({ ...at, ...load })
  assertNoErrors(`W12 ${what}`, found)
  bench.record(`W12 ${what}`, found)
  await waitUntilIdle(server.pid)
  return found
}

function buildRow(name: string, { p50, p99, p999, max }: LoadMeasurement, perSecond: number): BenchRow {
  const [median = '', most = '', slowest = ''] = [p50, p999, max].map((ms) => ms?.toPrecision(3))
  return {
    work: 'W12',
    what: `mix, new answers, requests by a clock, ${name}: p99`,
    value: p99 ?? Number.NaN,
    unit: 'ms',
    beside: `${Math.round(perSecond)} requests/s; median ${median} ms, p99.9 ${most} ms, slowest ${slowest} ms`,
  }
}
