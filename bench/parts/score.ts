/**
 * W1, W2: POST /score beside a plain wrapper of the library, as a training sends it: each request has an item that was never used
 * and completions that do not come twice. With items made before, as prefetching makes them, and with making them. W3: beside a
 * hostile client.
 */
import { assertNoErrors, type Bench, type BenchRow, median } from '../bench-row.ts'
import {
  type ItemCompletions,
  makeCompletions,
  omitIrreproducible,
  writeItemRequests,
  writeOurRequests,
  writeWrapperRequests,
} from '../completions.ts'
import { prepareBaselinePython } from '../environment.ts'
import { startHostileClient } from '../hostile.ts'
import { type LoadMeasurement, runLoad } from '../load/run.ts'
import { waitUntilIdle } from '../machine.ts'
import { type OurServer, type RunningProcess, startBaselineServer, startOurServer } from '../servers.ts'

interface Workload {
  work: 'W1' | 'W2'
  which: string
  groupSize: number
  /** Of each measurement. */
  requests: number
  /** Of the wrapper's processor time to ours: with items made before, and with making them. */
  leastSaving?: readonly [made: number, making: number]
}

const WORKLOADS: readonly Workload[] = [
  { work: 'W1', which: 'chain_sum', groupSize: 8, requests: 4000 },
  { work: 'W2', which: 'mix', groupSize: 8, requests: 1050, leastSaving: [6, 2] },
  { work: 'W2', which: 'mix', groupSize: 16, requests: 525, leastSaving: [6, 2] },
]
const WARMUP_MEASUREMENTS = 3

type ItemState = 'made' | 'making'
const STATES: readonly ItemState[] = ['made', 'making']
const DESCRIPTIONS: Record<ItemState, string> = { made: 'items made before', making: 'with making the items' }

/** One measurement of each server, with the same requests. */
interface Pair {
  ours: LoadMeasurement
  wrapper: LoadMeasurement
}

interface Measurements {
  /** The first requests after a start. */
  first: Record<ItemState, Pair>
  rounds: Record<ItemState, Pair[]>
  /** Beside a hostile client. */
  hostile: LoadMeasurement[]
}

interface BenchServers {
  ours: OurServer
  wrapper: RunningProcess
}

export async function benchmarkScore(bench: Bench): Promise<BenchRow[]> {
  const python = await prepareBaselinePython()
  const rows: BenchRow[] = []
  for (const workload of WORKLOADS) {
    const measurements = await measureWorkload(bench, python, workload)
    rows.push(...STATES.flatMap((state) => buildComparisonRows(workload, measurements, state)))
    rows.push(...buildHostileRows(measurements))
  }
  return rows
}

async function measureWorkload(bench: Bench, python: string, workload: Workload): Promise<Measurements> {
  const { work, which, groupSize, requests } = workload
  const take = async () => omitIrreproducible(await makeCompletions(python, which, requests, groupSize))
  const name = `${which}-${groupSize}`
  const [firstMade, firstMaking] = [await take(), await take()]
  const made = await withServers(python, async (servers) => measurePair(bench, servers, name, firstMade, 'made'))
  return withServers(python, async (servers) => {
    const making = await measurePair(bench, servers, name, firstMaking, 'making')
    for (let k = 0; k < WARMUP_MEASUREMENTS; k++) await measurePair(bench, servers, name, await take(), 'made')
    const measurements: Measurements = { first: { made, making }, rounds: { made: [], making: [] }, hostile: [] }
    for (let round = 0; round < bench.rounds; round++) {
      for (const state of STATES)
        measurements.rounds[state].push(await measurePair(bench, servers, name, await take(), state))
      if (work !== 'W1') continue
      const completions = await take()
      await makeItems(servers.ours, name, completions)
      const end = startHostileClient(servers.ours)
      measurements.hostile.push(
        await measure(servers.ours, writeOurRequests(name, completions), completions.length).finally(end),
      )
    }
    return measurements
  })
}

async function withServers<Result>(python: string, use: (servers: BenchServers) => Promise<Result>): Promise<Result> {
  const ours = await startOurServer({ API_PROCESSES: '1', WORKERS: '1' }, { onOneCore: true })
  const wrapper = await startBaselineServer(python, 'wrapper')
  try {
    return await use({ ours, wrapper })
  } finally {
    await Promise.all([ours.stop(), wrapper.stop()])
  }
}

/** The servers take turns, since the speed of the machine varies from minute to minute. */
async function measurePair(
  { record }: Bench,
  { ours, wrapper }: BenchServers,
  name: string,
  completions: ItemCompletions[],
  state: ItemState,
): Promise<Pair> {
  if (state === 'made') for (const server of [ours, wrapper]) await makeItems(server, name, completions)
  const pair = {
    ours: await measure(ours, writeOurRequests(name, completions), completions.length),
    wrapper: await measure(wrapper, writeWrapperRequests(name, completions), completions.length),
  }
  record(`${name}, ${DESCRIPTIONS[state]}`, pair)
  return pair
}

async function makeItems(server: RunningProcess, name: string, completions: ItemCompletions[]): Promise<void> {
  await measure(server, writeItemRequests(name, completions), completions.length)
}

async function measure({ port, pid }: RunningProcess, asks: string, count: number): Promise<LoadMeasurement> {
  const found = await runLoad({ port, server: pid, asks, count, warmupS: 0, timeoutS: 300 })
  assertNoErrors(asks, found)
  await waitUntilIdle(pid) // what it has in hand takes the core of who comes next
  return found
}

function buildComparisonRows(
  { work, which, groupSize, leastSaving }: Workload,
  { first, rounds }: Measurements,
  state: ItemState,
): BenchRow[] {
  const what = `${which}, groups of ${groupSize}, ${DESCRIPTIONS[state]}`
  const pairs = rounds[state]
  const cost = (one: LoadMeasurement) => one.microsecondsEach / groupSize
  const saving = ({ ours, wrapper }: Pair) => wrapper.microsecondsEach / ours.microsecondsEach
  const describeCosts = (some: Pair[]) => {
    const [theirs, us] = [median(some.map((one) => cost(one.wrapper))), median(some.map((one) => cost(one.ours)))]
    return `${theirs.toFixed(0)} vs. ${us.toFixed(0)} µs per completion`
  }
  const ratio = median(pairs.map(({ ours, wrapper }) => ours.unitsPerSecond / wrapper.unitsPerSecond))
  const rate = (of: keyof Pair) => Math.round(median(pairs.map((one) => one[of].unitsPerSecond))).toLocaleString('en')
  const p99 = (of: keyof Pair) => median(pairs.map((one) => one[of].p99 ?? Number.NaN))
  const [made, making] = leastSaving ?? []
  const least = state === 'made' ? made : making
  const savings = pairs.map((pair) => saving(pair).toFixed(2)).join(', ')
  return [
    {
      work,
      what: `${what}: the wrapper's processor time vs. that of all our processes`,
      value: median(pairs.map(saving)),
      unit: '×',
      ...(least !== undefined && { least }),
      beside: `${describeCosts(pairs)}; rounds: ${savings}`,
    },
    {
      work,
      what: `${what}: the same for the first requests after a start`,
      value: saving(first[state]),
      unit: '×',
      beside: describeCosts([first[state]]),
    },
    {
      work,
      what: `${what}: throughput vs. the wrapper`,
      value: ratio,
      unit: '×',
      beside: `${rate('ours')} vs. ${rate('wrapper')} completions/s`,
    },
    { work, what: `${what}: p99`, value: p99('ours'), unit: 'ms', beside: `wrapper ${p99('wrapper').toFixed(1)} ms` },
  ]
}

function buildHostileRows({ rounds, hostile }: Measurements): BenchRow[] {
  if (hostile.length === 0) return []
  const times = median(hostile.map((one, k) => (one.p99 ?? Number.NaN) / (rounds.made[k]?.ours.p99 ?? Number.NaN)))
  return [
    { work: 'W3', what: 'lost or wrong responses beside a hostile client', value: 0, unit: '', most: 0 }, // else it had thrown
    { work: 'W3', what: 'p99 beside a hostile client vs. W1', value: times, unit: '×', most: 2 },
  ]
}
