/** W14: how long `npm start` takes until it is ready, what rate it has in the ten seconds after that, and its memory while idle. */
import { setTimeout as sleep } from 'node:timers/promises'
import { assertNoErrors, type Bench, type BenchRow, median } from '../bench-row.ts'
import { makeCompletions, writeOurRequests } from '../completions.ts'
import { prepareBaselinePython } from '../environment.ts'
import { runLoad } from '../load/run.ts'
import { describeMachine, getTreeCpuSeconds, getTreePssMb, waitUntilIdle } from '../machine.ts'
import { startOurServer } from '../servers.ts'

const START_COUNT = 5
const FIRST_SECONDS = 10
/** By then, it has given back the memory that the start needed. */
const IDLE_SECONDS = 20
const REQUEST_COUNT = 3000

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
      what: `mix, new answers: rate in the first ${FIRST_SECONDS} s after a start vs. the steady one`,
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

/**
 * Completions per second: with new answers from the moment it is ready, when no item has been made, and later. If the first
 * requests take less than the first seconds, it has the steady rate after them.
 */
async function measureRates(bench: Bench): Promise<{ first: number; steady: number }> {
  const { all } = await makeCompletions(await prepareBaselinePython(), 'mix', 2 * REQUEST_COUNT)
  const [firstAsks, laterAsks] = [all.slice(0, REQUEST_COUNT), all.slice(REQUEST_COUNT)].map((some, k) =>
    writeOurRequests(`start-${k}`, some),
  )
  const server = await startOurServer()
  try {
    const measure = async (asks = '') => {
      const at = { port: server.port, server: server.pid, asks, anywhere: true }
      const found = await runLoad({ ...at, count: REQUEST_COUNT, warmupS: 0, timeoutS: 120 })
      assertNoErrors('W14', found)
      bench.record('W14 rate', found)
      await waitUntilIdle(server.pid)
      return found
    }
    const [first, { unitsPerSecond: steady }] = [await measure(firstAsks), await measure(laterAsks)]
    const left = Math.max(0, FIRST_SECONDS - first.seconds)
    const done = first.unitsPerSecond * first.seconds + steady * left
    return { first: done / (first.seconds + left), steady }
  } finally {
    await server.stop()
  }
}
