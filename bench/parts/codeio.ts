/**
 * W2, codeio alone, with items made before. `upstream` compares JSON trees, as the library does. `hardened`, the scoring of `clean`,
 * may run the item's program: an input that gives the wanted output is right, whatever the key says. One item in a hundred differs
 * from process to process, so no score is expected.
 */
import { assertNoErrors, type Bench, type BenchRow, median } from '../bench-row.ts'
import { makeCompletions, writeItemRequests, writeOurRequests } from '../completions.ts'
import { prepareBaselinePython } from '../environment.ts'
import { type LoadMeasurement, runLoad } from '../load/run.ts'
import { waitUntilIdle } from '../machine.ts'
import { startOurServer } from '../servers.ts'

const GROUP_SIZE = 8
const REQUESTS = 525
const WARMUP_MEASUREMENTS = 1
const SCORINGS = ['upstream', 'hardened'] as const

export async function benchmarkCodeio(bench: Bench): Promise<BenchRow[]> {
  const python = await prepareBaselinePython()
  const server = await startOurServer({ API_PROCESSES: '1', WORKERS: '1' }, { onOneCore: true })
  const measured: Record<(typeof SCORINGS)[number], LoadMeasurement[]> = { upstream: [], hardened: [] }
  try {
    for (let round = -WARMUP_MEASUREMENTS; round < bench.rounds; round++) {
      for (const scoring of SCORINGS) {
        const made = await makeCompletions(python, 'codeio', REQUESTS, GROUP_SIZE)
        const completions = made.map((one) => ({ ...one, scores: [] }))
        const at = { port: server.port, server: server.pid, count: completions.length, warmupS: 0, timeoutS: 300 }
        await runLoad({ ...at, asks: writeItemRequests('codeio', completions) })
        await waitUntilIdle(server.pid)
        const found = await runLoad({ ...at, asks: writeOurRequests('codeio', completions, scoring) })
        assertNoErrors(`codeio, ${scoring}`, found)
        await waitUntilIdle(server.pid)
        bench.record(`codeio, ${scoring}`, found)
        if (round >= 0) measured[scoring].push(found)
      }
    }
  } finally {
    await server.stop()
  }
  return SCORINGS.map((scoring) => {
    const of = (read: (one: LoadMeasurement) => number | null) =>
      median(measured[scoring].map((one) => read(one) ?? Number.NaN))
    return {
      work: 'W2',
      what: `codeio, groups of ${GROUP_SIZE}, items made before, scoring ${scoring}: processor time per completion`,
      value: of(({ microsecondsEach }) => microsecondsEach / GROUP_SIZE),
      unit: 'µs',
      beside: `p99 of a group ${of(({ p99 }) => p99).toFixed(0)} ms, slowest ${of(({ max }) => max).toFixed(0)} ms`,
    }
  })
}
