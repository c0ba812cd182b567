/** W1, W2, W3: POST /score beside a plain wrapper, beside a scorer for every request, and beside a hostile client. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { BASELINES, PYTHON_ENVIRONMENT, pythonOfBaselines } from '../environment.ts'
import { load, type Measured } from '../load/run.ts'
import { pinned, SERVER_CORE, untilIdle } from '../machine.ts'
import { assertRight, type Bench, median, type Row } from '../rows.ts'
import { type Ours, startOurs, startPlain } from '../servers.ts'
import { asksForPerRequest, asksForUs, asksForWrapper, makeTexts } from '../texts.ts'

const WORKS = [
  { work: 'W1', which: 'chain_sum', items: 200, more: 2, leastOfWrapper: 1.5, leastOfPerRequest: undefined },
  { work: 'W2', which: 'mix', items: 300, more: 0, leastOfWrapper: 5, leastOfPerRequest: 50 },
] as const

export async function score(bench: Bench): Promise<Row[]> {
  const python = await pythonOfBaselines()
  const ours = await startOurs({ API_PROCESSES: '1', WORKERS: '1' }, { onOneCore: true })
  const wrapper = await startPlain(python, 'wrapper')
  const perRequest = await startPlain(python, 'per_request')
  try {
    const rows: Row[] = []
    for (const { work, which, items, more, leastOfWrapper, leastOfPerRequest } of WORKS) {
      const { path, all } = await makeTexts(python, which, items)
      const asks = [asksForUs(which, all), asksForWrapper(which, all), asksForPerRequest(which, all)] as const
      const measure = async (name: string, port: number, server: number, file: string, seconds = bench.seconds) => {
        const measured = await load({ port, server, asks: file, seconds })
        assertRight(`${work} ${name}`, measured)
        bench.keep(`${work} ${name}`, measured)
        await untilIdle(server) // what it has in hand takes the core of who comes next
        return measured
      }
      // The first time, items are made: that is not what is measured.
      await load({ port: ours.port, server: ours.pid, asks: asks[0], count: items, timeoutS: 120, connections: 4 })
      await load({
        port: wrapper.port,
        server: wrapper.pid,
        asks: asks[1],
        count: items,
        timeoutS: 120,
        connections: 4,
      })
      const found = { ours: [] as Measured[], wrapper: [] as Measured[], perRequest: [] as Measured[] }
      const hostile: Measured[] = []
      for (let round = 0; round < bench.rounds + more; round++) {
        found.ours.push(await measure('ours', ours.port, ours.pid, asks[0]))
        found.wrapper.push(await measure('wrapper', wrapper.port, wrapper.pid, asks[1]))
        if (round < bench.rounds)
          found.perRequest.push(await measure('per request', perRequest.port, perRequest.pid, asks[2], 2))
        if (work === 'W1' && round < bench.rounds) {
          const stop = beHostile(ours)
          hostile.push(await measure('ours with a hostile client', ours.port, ours.pid, asks[0]).finally(stop))
        }
      }
      const rate = (which_: Measured[]) => median(which_.map(({ unitsPerSecond }) => unitsPerSecond))
      const [us, them, each] = [rate(found.ours), rate(found.wrapper), rate(found.perRequest)]
      // The machine's speed varies from minute to minute: each round is compared with itself.
      const toWrapper = found.ours.map(
        (one, k) => one.unitsPerSecond / (found.wrapper[k]?.unitsPerSecond ?? Number.NaN),
      )
      const inProcess = inLibrary(python, path)
      const beside = `${whole(us)} to ${whole(them)} completions a second`
      rows.push({
        work,
        what: `${which}: ratio to the plain wrapper`,
        value: median(toWrapper),
        unit: '×',
        least: leastOfWrapper,
        beside: `${beside}; rounds: ${toWrapper.map((ratio) => ratio.toFixed(2)).join(', ')}`,
      })
      rows.push({
        work,
        what: `${which}: ratio to a scorer for every request`,
        value: us / each,
        unit: '×',
        ...(leastOfPerRequest !== undefined && { least: leastOfPerRequest }),
        beside: `${whole(each)} completions a second`,
      })
      const alone = `${whole(inProcess)} completions a second`
      rows.push({
        work,
        what: `${which}: ratio to the library without a server`,
        value: us / inProcess,
        unit: '×',
        beside: alone,
      })
      const p99 = (which_: Measured[]) => median(which_.map((one) => one.p99 ?? Number.NaN))
      rows.push({
        work,
        what: `${which}: p99`,
        value: p99(found.ours),
        unit: 'ms',
        beside: `wrapper ${p99(found.wrapper).toFixed(1)} ms`,
      })
      if (hostile.length > 0) {
        rows.push({ work: 'W3', what: 'requests lost or wrong beside a hostile client', value: 0, unit: '', most: 0 }) // else it had thrown
        const times = median(hostile.map((one, k) => (one.p99 ?? Number.NaN) / (found.ours[k]?.p99 ?? Number.NaN)))
        rows.push({ work: 'W3', what: 'p99 beside a hostile client, to W1’s', value: times, unit: '×', most: 2 })
      }
    }
    return rows
  } finally {
    await Promise.all([ours.stop(), wrapper.stop(), perRequest.stop()])
  }
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
