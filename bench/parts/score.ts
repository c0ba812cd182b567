/** W1, W2, W3: POST /score beside a plain wrapper, beside a scorer for every request, and beside a hostile client. */
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
import { type LoadMeasurement, runLoad } from '../load/run.ts'
import { pinCommand, SERVER_CORE, waitUntilIdle } from '../machine.ts'
import { type OurServer, type RunningProcess, startBaselineServer, startOurServer } from '../servers.ts'

const WORKLOADS = [
  { work: 'W1', which: 'chain_sum', items: 200, more: 2, leastOfWrapper: 1.5, leastOfPerRequest: undefined },
  { work: 'W2', which: 'mix', items: 300, more: 0, leastOfWrapper: 5, leastOfPerRequest: 50 },
] as const
type Workload = (typeof WORKLOADS)[number]

interface BenchServers {
  ours: OurServer
  wrapper: RunningProcess
  perRequest: RunningProcess
}

/** A measurement each round. */
type RoundMeasurements = Record<keyof BenchServers | 'hostile', LoadMeasurement[]>

export async function benchmarkScore(bench: Bench): Promise<BenchRow[]> {
  const python = await prepareBaselinePython()
  const ours = await startOurServer({ API_PROCESSES: '1', WORKERS: '1' }, { onOneCore: true })
  const wrapper = await startBaselineServer(python, 'wrapper')
  const perRequest = await startBaselineServer(python, 'per_request')
  const servers = { ours, wrapper, perRequest }
  try {
    const rows: BenchRow[] = []
    for (const work of WORKLOADS) {
      const { path, all } = await makeCompletions(python, work.which, work.items)
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
  servers: BenchServers,
  { work, which, items, more }: Workload,
  all: ItemCompletions[],
): Promise<RoundMeasurements> {
  const { ours, wrapper, perRequest } = servers
  const toOurs = writeOurRequests(which, all)
  const toWrapper = writeWrapperRequests(which, all)
  const toPerRequest = writePerRequestRequests(which, all)
  const measure = async (
    name: string,
    { port, pid }: RunningProcess,
    asks: string,
    seconds = bench.seconds,
    end = () => {},
  ) => {
    const found = await runLoad({ port, server: pid, asks, seconds }).finally(end)
    assertNoErrors(`${work} ${name}`, found)
    bench.record(`${work} ${name}`, found)
    await waitUntilIdle(pid) // what it has in hand takes the core of who comes next
    return found
  }
  // The first time, items are made: that is not what is measured.
  const once = { count: items, timeoutS: 120, connections: 4 }
  await runLoad({ port: ours.port, server: ours.pid, asks: toOurs, ...once })
  await runLoad({ port: wrapper.port, server: wrapper.pid, asks: toWrapper, ...once })
  const rounds: RoundMeasurements = { ours: [], wrapper: [], perRequest: [], hostile: [] }
  for (let round = 0; round < bench.rounds + more; round++) {
    rounds.ours.push(await measure('ours', ours, toOurs))
    rounds.wrapper.push(await measure('wrapper', wrapper, toWrapper))
    if (round >= bench.rounds) continue
    rounds.perRequest.push(await measure('per request', perRequest, toPerRequest, 2))
    if (work !== 'W1') continue
    rounds.hostile.push(
      await measure('ours with a hostile client', ours, toOurs, bench.seconds, startHostileClient(ours)),
    )
  }
  return rounds
}

function buildComparisonRows(
  { work, which, leastOfWrapper, leastOfPerRequest }: Workload,
  rounds: RoundMeasurements,
  inProcess: number,
): BenchRow[] {
  const rate = (some: LoadMeasurement[]) => median(some.map(({ unitsPerSecond }) => unitsPerSecond))
  const p99 = (some: LoadMeasurement[]) => median(some.map((one) => one.p99 ?? Number.NaN))
  const [us, them, each] = [rate(rounds.ours), rate(rounds.wrapper), rate(rounds.perRequest)]
  // The machine's speed varies from minute to minute: each round is compared with itself.
  const toWrapper = rounds.ours.map((one, k) => one.unitsPerSecond / (rounds.wrapper[k]?.unitsPerSecond ?? Number.NaN))
  const ratios = toWrapper.map((ratio) => ratio.toFixed(2)).join(', ')
  return [
    {
      work,
      what: `${which}: throughput vs. the plain wrapper`,
      value: median(toWrapper),
      unit: '×',
      least: leastOfWrapper,
      beside: `${formatWhole(us)} vs. ${formatWhole(them)} completions/s; rounds: ${ratios}`,
    },
    {
      work,
      what: `${which}: throughput vs. one scorer per request`,
      value: us / each,
      unit: '×',
      ...(leastOfPerRequest !== undefined && { least: leastOfPerRequest }),
      beside: `${formatWhole(each)} completions/s`,
    },
    {
      work,
      what: `${which}: throughput vs. the library in-process`,
      value: us / inProcess,
      unit: '×',
      beside: `${formatWhole(inProcess)} completions/s`,
    },
    {
      work,
      what: `${which}: p99`,
      value: p99(rounds.ours),
      unit: 'ms',
      beside: `wrapper ${p99(rounds.wrapper).toFixed(1)} ms`,
    },
  ]
}

function buildHostileRows({ ours, hostile }: RoundMeasurements): BenchRow[] {
  if (hostile.length === 0) return []
  const times = median(hostile.map((one, k) => (one.p99 ?? Number.NaN) / (ours[k]?.p99 ?? Number.NaN)))
  return [
    { work: 'W3', what: 'lost or wrong responses beside a hostile client', value: 0, unit: '', most: 0 }, // else it had thrown
    { work: 'W3', what: 'p99 beside a hostile client vs. W1', value: times, unit: '×', most: 2 },
  ]
}

const UNBOUNDED_EXPRESSIONS = ['x', 'X'].map(
  (v) => `(sin(${v})+cos(${v})+tan(${v})+${v}**2)**9/(exp(${v})+log(${v})+${v}**7)**9`,
)
/** What stops a server that scores as it comes: a number too large to write, and a sum that sympy does not end with. */
const HOSTILE_ROLLOUTS = [
  { recipe: { task: 'countdown', seed: 1 }, answer: '9**9**9**9' },
  { recipe: { task: 'simple_integration', seed: 1 }, answer: UNBOUNDED_EXPRESSIONS.join('+') },
  { recipe: { task: 'polynomial_equations', seed: 1 }, answer: `${'('.repeat(20_000)}1` },
  { recipe: { task: 'simple_equations', seed: 1 }, answer: '9'.repeat(60_000) },
]

/** One hostile answer a second, until the returned function is called. */
function startHostileClient(server: OurServer): () => void {
  let sent = 0
  const timer = setInterval(() => {
    const rollout = HOSTILE_ROLLOUTS[sent++ % HOSTILE_ROLLOUTS.length]
    const body = JSON.stringify({ rollouts: [rollout], extraction: 'bare' })
    void fetch(`${server.url}/score`, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).catch(
      () => {},
    )
  }, 1000)
  return () => clearInterval(timer)
}

function measureInProcess(python: string, texts: string): number {
  const [command = '', ...args] = pinCommand(SERVER_CORE, [python, join(BASELINES_DIR, 'in_process.py'), texts, '3'])
  return Number(execFileSync(command, args, { env: PYTHON_ENV }).toString())
}

function formatWhole(value: number): string {
  return Math.round(value).toLocaleString('en')
}
