/** W14: how long `npm start` takes until it is ready, what rate its first requests have, and its memory while idle. */
import { setTimeout as sleep } from 'node:timers/promises'
import { assertNoErrors, type Bench, type BenchRow, median } from '../bench-row.ts'
import { makeCompletions, writeItemRequests, writeOurRequests } from '../completions.ts'
import { prepareBaselinePython } from '../environment.ts'
import { runLoad } from '../load/run.ts'
import { describeMachine, getTreeCpuSeconds, getTreePssMb, waitUntilIdle } from '../machine.ts'
import { startOurServer } from '../servers.ts'

const START_COUNT = 5
/** By then, it has given back the memory that the start needed. */
const IDLE_SECONDS = 20
const REQUEST_COUNT = 1050
const WARMUP_MEASUREMENTS = 3

export async function benchmarkStart(bench: Bench): Promise<BenchRow[]> {
  const starts: { seconds: number; cpuSeconds: number }[] = []
  await (await startOurServer()).stop() // fills the caches
  for (let k = 0; k < START_COUNT; k++) {
    const from = performance.now()
    const server = await startOurServer()
    starts.push({ seconds: (performance.now() - from) / 1000, cpuSeconds: await getTreeCpuSeconds(server.pid) })
    await server.stop()
  }
  bench.record('W14 starts', starts)
  const { first, steady } = await measureRates(bench)
  const memory = { all: await measureIdleMemory({}), small: await measureIdleMemory({ SMALL: 'true' }) }
  bench.record('W14 idle memory', memory)
  const cpuSeconds = median(starts.map((one) => one.cpuSeconds)).toPrecision(2)
  return [
    {
      work: 'W14',
      what: 'a start with warm caches, until an API process and a worker are ready',
      value: median(starts.map(({ seconds }) => seconds)),
      unit: 's',
      most: 2.5,
      beside: `${START_COUNT} starts; ${cpuSeconds} s of CPU time`,
    },
    {
      work: 'W14',
      what: `all tasks, new items made before: rate of the first ${REQUEST_COUNT} requests after a start vs. the steady one`,
      value: first / steady,
      unit: '×',
      least: 0.5,
      beside: `${Math.round(first)} vs. ${Math.round(steady)} completions/s`,
    },
    {
      work: 'W14',
      what: `memory of all processes, idle, on ${describeMachine().cores} cores`,
      value: memory.all,
      unit: 'MB',
      most: 450,
      beside: `proportional set size; with --small ${memory.small} MB`,
    },
  ]
}

async function measureIdleMemory(env: Record<string, string>): Promise<number> {
  const server = await startOurServer(env)
  await sleep(IDLE_SECONDS * 1000)
  const memory = getTreePssMb(server.pid)
  await server.stop()
  return memory
}

/** Completions per second of all tasks with items made before: right after a start, and later. */
async function measureRates(bench: Bench): Promise<{ first: number; steady: number }> {
  const python = await prepareBaselinePython()
  const server = await startOurServer()
  try {
    const measure = async () => {
      const completions = await makeCompletions(python, 'mix', REQUEST_COUNT)
      const count = completions.length
      const at = { port: server.port, server: server.pid, count, anywhere: true, warmupS: 0, timeoutS: 120 }
      await runLoad({ ...at, asks: writeItemRequests('start', completions) })
      const found = await runLoad({ ...at, asks: writeOurRequests('start', completions) })
      assertNoErrors('W14', found)
      bench.record('W14 rate', found)
      await waitUntilIdle(server.pid)
      return found.unitsPerSecond
    }
    const first = await measure()
    for (let k = 0; k < WARMUP_MEASUREMENTS; k++) await measure()
    return { first, steady: await measure() }
  } finally {
    await server.stop()
  }
}
