/**
 * W1, W2, W3: POST /score beside a plain wrapper, with completions that do not come twice, also beside a hostile client; and with
 * repeated ones, beside a scorer for every request too.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { assertNoErrors, type Bench, type BenchRow, median } from '../bench-row.ts'
import {
  type ItemCompletions,
  makeCompletions,
  writeOurRequests,
  writePerRequestRequests,
  writeWrapperRequests,
} from '../completions.ts'
import { BASELINES_DIR, PYTHON_ENV, prepareBaselinePython } from '../environment.ts'
import { startHostileClient } from '../hostile.ts'
import { type LoadMeasurement, runLoad } from '../load/run.ts'
import { pinCommand, SERVER_CORE, waitUntilIdle } from '../machine.ts'
import { type OurServer, type RunningProcess, startBaselineServer, startOurServer } from '../servers.ts'

const WORKLOADS = [
  { work: 'W1', which: 'chain_sum', answers: 'new', requests: 4000, leastOfWrapper: 1.5 },
  { work: 'W2', which: 'mix', answers: 'new', requests: 1500, leastOfWrapper: 5, leastSaving: 6 },
  { work: 'W2', which: 'mix', answers: 'repeated', requests: 300, leastOfPerRequest: 50 },
] as const
interface Workload {
  work: string
  which: string
  answers: 'new' | 'repeated'
  /** Of each measurement; repeated ones are sent again and again. */
  requests: number
  leastOfWrapper?: number
  leastOfPerRequest?: number
  /** Of processor time. */
  leastSaving?: number
}

interface BenchServers {
  ours: OurServer
  wrapper: RunningProcess
  perRequest: RunningProcess
}

const COMPLETIONS_PER_REQUEST = 8
/** Before the rounds: in the first part, both servers make the items, which is a row of its own; then V8 compiles what is busy. */
const WARMUP_CONNECTIONS = [4, 64, 64]

/** A measurement each round, and of each part of the warm-up. */
type RoundMeasurements = Record<keyof BenchServers | 'hostile' | 'oursCold' | 'wrapperCold', LoadMeasurement[]>

export async function benchmarkScore(bench: Bench): Promise<BenchRow[]> {
  const python = await prepareBaselinePython()
  const ours = await startOurServer({ API_PROCESSES: '1', WORKERS: '1' }, { onOneCore: true })
  const wrapper = await startBaselineServer(python, 'wrapper')
  const perRequest = await startBaselineServer(python, 'per_request')
  const servers = { ours, wrapper, perRequest }
  try {
    const rows: BenchRow[] = []
    for (const work of WORKLOADS as readonly Workload[]) {
      const measurements =
        work.answers === 'new' ? WARMUP_CONNECTIONS.length + bench.rounds * (work.work === 'W1' ? 2 : 1) : 1
      const { path, all } = await makeCompletions(python, work.which, work.requests * measurements, work.answers)
      const rounds = await measureRounds(bench, servers, work, all)
      rows.push(...buildComparisonRows(work, rounds, measureInProcess(python, path)), ...buildHostileRows(rounds))
    }
    return rows
  } finally {
    await Promise.all([ours.stop(), wrapper.stop(), perRequest.stop()])
  }
}

/** The servers take turns, so that each round is of one time; a hostile client calls beside W1 alone. */
async function measureRounds(
  bench: Bench,
  { ours, wrapper, perRequest }: BenchServers,
  { work, which, answers, requests }: Workload,
  all: ItemCompletions[],
): Promise<RoundMeasurements> {
  const name = `${which}-${answers}`
  const left = [...all]
  /** Those of the next measurement: new ones, or the same again. */
  const takeCompletions = () => (answers === 'new' ? left.splice(0, requests) : all)
  const measure = async (
    what: string,
    { port, pid }: RunningProcess,
    asks: string,
    seconds?: number,
    end = () => {},
  ) => {
    const length = seconds === undefined ? { count: requests, warmupS: 0, timeoutS: 120 } : { seconds }
    const found = await runLoad({ port, server: pid, asks, ...length }).finally(end)
    assertNoErrors(`${work} ${what}`, found)
    bench.record(`${work} ${what}, ${answers} answers`, found)
    await waitUntilIdle(pid) // what it has in hand takes the core of who comes next
    return found
  }
  const rounds: RoundMeasurements = {
    ours: [],
    wrapper: [],
    perRequest: [],
    hostile: [],
    oursCold: [],
    wrapperCold: [],
  }
  for (const connections of WARMUP_CONNECTIONS) {
    const completions = takeCompletions()
    const load = { count: requests, warmupS: 0, timeoutS: 120, connections }
    const [asks, wrapperAsks] = [writeOurRequests(name, completions), writeWrapperRequests(name, completions)]
    rounds.oursCold.push(await runLoad({ port: ours.port, server: ours.pid, asks, ...load }))
    rounds.wrapperCold.push(await runLoad({ port: wrapper.port, server: wrapper.pid, asks: wrapperAsks, ...load }))
  }
  const seconds = answers === 'new' ? undefined : bench.seconds
  for (let round = 0; round < bench.rounds; round++) {
    const completions = takeCompletions()
    rounds.ours.push(await measure('ours', ours, writeOurRequests(name, completions), seconds))
    rounds.wrapper.push(await measure('wrapper', wrapper, writeWrapperRequests(name, completions), seconds))
    if (answers === 'repeated')
      rounds.perRequest.push(await measure('per request', perRequest, writePerRequestRequests(name, all), 2))
    if (work !== 'W1') continue
    const beside = writeOurRequests(name, takeCompletions())
    rounds.hostile.push(await measure('ours with a hostile client', ours, beside, undefined, startHostileClient(ours)))
  }
  return rounds
}

function buildComparisonRows(
  { work, which, answers, leastOfWrapper, leastOfPerRequest, leastSaving }: Workload,
  rounds: RoundMeasurements,
  inProcess: number,
): BenchRow[] {
  const name = `${which}, ${answers} answers`
  const rate = (some: LoadMeasurement[]) => median(some.map(({ unitsPerSecond }) => unitsPerSecond))
  const p99 = (some: LoadMeasurement[]) => median(some.map((one) => one.p99 ?? Number.NaN))
  const cost = (some: LoadMeasurement[]) => median(some.map((one) => one.microsecondsEach / COMPLETIONS_PER_REQUEST))
  const [us, them] = [rate(rounds.ours), rate(rounds.wrapper)]
  // The machine's speed varies from minute to minute: each round is compared with itself.
  const toWrapper = rounds.ours.map((one, k) => one.unitsPerSecond / (rounds.wrapper[k]?.unitsPerSecond ?? Number.NaN))
  const compareCosts = (some: LoadMeasurement[], others: LoadMeasurement[]) =>
    some.map((one, k) => one.microsecondsEach / (others[k]?.microsecondsEach ?? Number.NaN))
  const [savingWithNewItems = Number.NaN] = compareCosts(rounds.wrapperCold, rounds.oursCold)
  const ratios = toWrapper.map((ratio) => ratio.toFixed(2)).join(', ')
  const rows: BenchRow[] = [
    {
      work,
      what: `${name}: throughput vs. the plain wrapper`,
      value: median(toWrapper),
      unit: '×',
      ...(leastOfWrapper !== undefined && { least: leastOfWrapper }),
      beside: `${formatWhole(us)} vs. ${formatWhole(them)} completions/s; rounds: ${ratios}`,
    },
    {
      work,
      what: `${name}: the plain wrapper's processor time vs. that of all our processes`,
      value: median(compareCosts(rounds.wrapper, rounds.ours)),
      unit: '×',
      ...(leastSaving !== undefined && { least: leastSaving }),
      beside: `${cost(rounds.wrapper).toFixed(0)} vs. ${cost(rounds.ours).toFixed(0)} µs per completion`,
    },
    {
      work,
      what: `${name}: throughput vs. the library in-process`,
      value: us / inProcess,
      unit: '×',
      beside: `${formatWhole(inProcess)} completions/s`,
    },
    {
      work,
      what: `${name}: p99`,
      value: p99(rounds.ours),
      unit: 'ms',
      beside: `wrapper ${p99(rounds.wrapper).toFixed(1)} ms`,
    },
  ]
  if (answers === 'new') {
    const firstCost = ([first]: LoadMeasurement[]) => cost(first ? [first] : []).toFixed(0)
    rows.splice(2, 0, {
      work,
      what: `${name}: the same for items that neither has made before`,
      value: savingWithNewItems,
      unit: '×',
      ...(leastSaving !== undefined && { least: leastSaving }),
      beside: `${firstCost(rounds.wrapperCold)} vs. ${firstCost(rounds.oursCold)} µs per completion`,
    })
  }
  if (rounds.perRequest.length === 0) return rows
  const each = rate(rounds.perRequest)
  const perRequest: BenchRow = {
    work,
    what: `${name}: throughput vs. one scorer per request`,
    value: us / each,
    unit: '×',
    ...(leastOfPerRequest !== undefined && { least: leastOfPerRequest }),
    beside: `${formatWhole(each)} completions/s`,
  }
  return [...rows, perRequest]
}

function buildHostileRows({ ours, hostile }: RoundMeasurements): BenchRow[] {
  if (hostile.length === 0) return []
  const times = median(hostile.map((one, k) => (one.p99 ?? Number.NaN) / (ours[k]?.p99 ?? Number.NaN)))
  return [
    { work: 'W3', what: 'lost or wrong responses beside a hostile client', value: 0, unit: '', most: 0 }, // else it had thrown
    { work: 'W3', what: 'p99 beside a hostile client vs. W1', value: times, unit: '×', most: 2 },
  ]
}

function measureInProcess(python: string, texts: string): number {
  const [command = '', ...args] = pinCommand(SERVER_CORE, [python, join(BASELINES_DIR, 'in_process.py'), texts, '3'])
  return Number(execFileSync(command, args, { env: PYTHON_ENV }).toString())
}

function formatWhole(value: number): string {
  return Math.round(value).toLocaleString('en')
}
