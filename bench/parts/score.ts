/** W1, W2, W3: POST /score beside a plain wrapper, beside a scorer for every request, and beside a hostile client. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { BASELINES, PYTHON_ENVIRONMENT, pythonOfBaselines } from '../environment.ts'
import { load, type Measured } from '../load/run.ts'
import { pinned, SERVER_CORE, untilIdle } from '../machine.ts'
import { assertRight, type Bench, median, type Row } from '../rows.ts'
import { type Ours, type Running, startOurs, startPlain } from '../servers.ts'
import { asksForPerRequest, asksForUs, asksForWrapper, makeTexts, type Texts } from '../texts.ts'

const WORKS = [
  { work: 'W1', which: 'chain_sum', items: 200, more: 2, leastOfWrapper: 1.5, leastOfPerRequest: undefined },
  { work: 'W2', which: 'mix', items: 300, more: 0, leastOfWrapper: 5, leastOfPerRequest: 50 },
] as const
type Work = (typeof WORKS)[number]

interface Servers {
  ours: Ours
  wrapper: Running
  perRequest: Running
}

/** A measurement each round. */
type Rounds = Record<keyof Servers | 'hostile', Measured[]>

export async function score(bench: Bench): Promise<Row[]> {
  const python = await pythonOfBaselines()
  const ours = await startOurs({ API_PROCESSES: '1', WORKERS: '1' }, { onOneCore: true })
  const wrapper = await startPlain(python, 'wrapper')
  const perRequest = await startPlain(python, 'per_request')
  const servers = { ours, wrapper, perRequest }
  try {
    const rows: Row[] = []
    for (const work of WORKS) {
      const { path, all } = await makeTexts(python, work.which, work.items)
      const rounds = await roundsOf(bench, servers, work, all)
      rows.push(...rowsBeside(work, rounds, inLibrary(python, path)), ...rowsOfHostile(rounds))
    }
    return rows
  } finally {
    await Promise.all([ours.stop(), wrapper.stop(), perRequest.stop()])
  }
}

/** The servers take turns, so that each round is of one time; a hostile client calls beside W1 alone. */
async function roundsOf(
  bench: Bench,
  servers: Servers,
  { work, which, items, more }: Work,
  all: Texts[],
): Promise<Rounds> {
  const { ours, wrapper, perRequest } = servers
  const toOurs = asksForUs(which, all)
  const toWrapper = asksForWrapper(which, all)
  const toPerRequest = asksForPerRequest(which, all)
  const measure = async (
    name: string,
    { port, pid }: Running,
    asks: string,
    seconds = bench.seconds,
    end = () => {},
  ) => {
    const found = await load({ port, server: pid, asks, seconds }).finally(end)
    assertRight(`${work} ${name}`, found)
    bench.keep(`${work} ${name}`, found)
    await untilIdle(pid) // what it has in hand takes the core of who comes next
    return found
  }
  // The first time, items are made: that is not what is measured.
  const once = { count: items, timeoutS: 120, connections: 4 }
  await load({ port: ours.port, server: ours.pid, asks: toOurs, ...once })
  await load({ port: wrapper.port, server: wrapper.pid, asks: toWrapper, ...once })
  const rounds: Rounds = { ours: [], wrapper: [], perRequest: [], hostile: [] }
  for (let round = 0; round < bench.rounds + more; round++) {
    rounds.ours.push(await measure('ours', ours, toOurs))
    rounds.wrapper.push(await measure('wrapper', wrapper, toWrapper))
    if (round >= bench.rounds) continue
    rounds.perRequest.push(await measure('per request', perRequest, toPerRequest, 2))
    if (work !== 'W1') continue
    rounds.hostile.push(await measure('ours with a hostile client', ours, toOurs, bench.seconds, beHostile(ours)))
  }
  return rounds
}

function rowsBeside(
  { work, which, leastOfWrapper, leastOfPerRequest }: Work,
  rounds: Rounds,
  inProcess: number,
): Row[] {
  const rate = (some: Measured[]) => median(some.map(({ unitsPerSecond }) => unitsPerSecond))
  const p99 = (some: Measured[]) => median(some.map((one) => one.p99 ?? Number.NaN))
  const [us, them, each] = [rate(rounds.ours), rate(rounds.wrapper), rate(rounds.perRequest)]
  // The machine's speed varies from minute to minute: each round is compared with itself.
  const toWrapper = rounds.ours.map((one, k) => one.unitsPerSecond / (rounds.wrapper[k]?.unitsPerSecond ?? Number.NaN))
  const ratios = toWrapper.map((ratio) => ratio.toFixed(2)).join(', ')
  return [
    {
      work,
      what: `${which}: ratio to the plain wrapper`,
      value: median(toWrapper),
      unit: '×',
      least: leastOfWrapper,
      beside: `${whole(us)} to ${whole(them)} completions a second; rounds: ${ratios}`,
    },
    {
      work,
      what: `${which}: ratio to a scorer for every request`,
      value: us / each,
      unit: '×',
      ...(leastOfPerRequest !== undefined && { least: leastOfPerRequest }),
      beside: `${whole(each)} completions a second`,
    },
    {
      work,
      what: `${which}: ratio to the library without a server`,
      value: us / inProcess,
      unit: '×',
      beside: `${whole(inProcess)} completions a second`,
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

function rowsOfHostile({ ours, hostile }: Rounds): Row[] {
  if (hostile.length === 0) return []
  const times = median(hostile.map((one, k) => (one.p99 ?? Number.NaN) / (ours[k]?.p99 ?? Number.NaN)))
  return [
    { work: 'W3', what: 'requests lost or wrong beside a hostile client', value: 0, unit: '', most: 0 }, // else it had thrown
    { work: 'W3', what: 'p99 beside a hostile client, to W1’s', value: times, unit: '×', most: 2 },
  ]
}

const VARIABLES = ['x', 'X'].map((v) => `(sin(${v})+cos(${v})+tan(${v})+${v}**2)**9/(exp(${v})+log(${v})+${v}**7)**9`)
/** What stops a server that scores as it comes: a number too large to write, and a sum that sympy does not end with. */
const HOSTILE = [
  { recipe: { task: 'countdown', seed: 1 }, answer: '9**9**9**9' },
  { recipe: { task: 'simple_integration', seed: 1 }, answer: VARIABLES.join('+') },
  { recipe: { task: 'polynomial_equations', seed: 1 }, answer: `${'('.repeat(20_000)}1` },
  { recipe: { task: 'simple_equations', seed: 1 }, answer: '9'.repeat(60_000) },
]

/** One hostile answer a second, until the returned function is called. */
function beHostile(server: Ours): () => void {
  let sent = 0
  const timer = setInterval(() => {
    const rollout = HOSTILE[sent++ % HOSTILE.length]
    const body = JSON.stringify({ rollouts: [rollout], extraction: 'bare' })
    void fetch(`${server.url}/score`, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).catch(
      () => {},
    )
  }, 1000)
  return () => clearInterval(timer)
}

function inLibrary(python: string, texts: string): number {
  const [command = '', ...args] = pinned(SERVER_CORE, [python, join(BASELINES, 'in_process.py'), texts, '3'])
  return Number(execFileSync(command, args, { env: PYTHON_ENVIRONMENT }).toString())
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}
