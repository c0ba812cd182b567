/**
 * Attacks a server with answers: every task × every attack through POST /score and POST /rollouts, and what others notice.
 *   npm run attacks -- [--task NAME] [--seconds 20]
 */
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { TASK_NAMES } from '../src/tasks/catalogue.ts'
import { ExploitMatrix } from './attacks/matrix.ts'
import { type LatencySummary, measureOrdinaryRequests } from './attacks/others.ts'
import { buildExploits, type Exploit } from './attacks/strings.ts'
import { watchServer } from './attacks/watch.ts'
import { type ChildServer, startChildServer } from './with-server.ts'

const SCORE_DEADLINE_MS = 2000
/** Two attacks for each core. */
const MAX_IN_FLIGHT = 2 * availableParallelism()

const { values } = parseArgs({
  options: { task: { type: 'string' }, seconds: { type: 'string', default: '20' }, help: { type: 'boolean' } },
})
const measureMs = Number(values.seconds) * 1000
if (values.help) {
  console.log('npm run attacks -- [--task NAME] [--seconds 20]')
  process.exit(0)
}
const server = await startChildServer({
  SCORE_DEADLINE_MS: String(SCORE_DEADLINE_MS),
  LOG_LEVEL: 'warn',
  API_PROCESSES: '1',
  WORKERS: '1',
})
try {
  process.exitCode = (await runExploits(server)) ? 0 : 1
} finally {
  await server.stop()
}

/** Whether all verdicts are as they must be, and nothing was made by an answer. */
async function runExploits({ url, pid }: ChildServer): Promise<boolean> {
  const watch = await watchServer(pid)
  const list = buildExploits(watch.marker, watch.port)
  const tasks = values.task === undefined ? TASK_NAMES : [values.task]
  const matrix = new ExploitMatrix(url, list)
  for (const task of tasks) await matrix.submitAsGroup(task, await matrix.scoreExploits(task, 2), 'attacked')

  await measureOrdinaryRequests(url, sleep(2000)) // warm
  const usual = await measureOrdinaryRequests(url, sleep(measureMs))
  const hanging = list.filter(({ name }) => name === 'simplification without end')
  const attacked = await measureUnderExploits(url, 'simple_integration', hanging)
  const flooded = await measureUnderExploits(url, 'rubiks_cube', list)

  const traces = watch.listTraces()
  const { residentMb, mappedMb } = watch.getPeakMemory()
  watch.stop()
  const { verdicts, slowestVerdict: slowest, unscored, wrong } = matrix.report
  console.log(
    `${tasks.length} tasks × ${list.length} attacks through POST /score and POST /rollouts: ${verdicts} verdicts`,
  )
  console.log(`made by an answer: ${traces.length === 0 ? 'no process, no file, no socket' : traces.join('; ')}`)
  console.log(`slowest verdict: ${slowest.ms.toFixed(0)} ms (${slowest.what})`)
  console.log(`largest Python process: ${residentMb.toFixed(0)} MB in memory, ${mappedMb.toFixed(0)} MB mapped`)
  console.log(`unscored: ${unscored.length}`)
  for (const what of unscored) console.log(`  ${what}`)
  console.log(
    `\n| others, ${MAX_IN_FLIGHT} attacks in flight | usual p50 | p99 | hanging answers p50 | p99 | long answers p50 | p99 |`,
  )
  console.log('|---|---|---|---|---|---|---|')
  for (const [k, { kind, p50, p99 }] of usual.entries()) {
    const cells = [p50, p99, attacked[k]?.p50, attacked[k]?.p99, flooded[k]?.p50, flooded[k]?.p99]
    console.log(`| ${kind} | ${cells.map((ms) => `${(ms ?? 0).toFixed(1)} ms`).join(' | ')} |`)
  }
  console.log(`\nwrong: ${wrong.length}`)
  for (const what of wrong.slice(0, 50)) console.log(`  ${what}`)
  return wrong.length + traces.length === 0
}

/** What others wait while so many attacks are in flight. */
async function measureUnderExploits(url: string, task: string, list: Exploit[]): Promise<LatencySummary[]> {
  let over = false
  const end = sleep(measureMs).then(() => {
    over = true
  })
  const assault = Array.from({ length: MAX_IN_FLIGHT }, async () => {
    while (!over) for (const attack of list) if (!over) await new ExploitMatrix(url, [attack]).scoreExploits(task, 1)
  })
  const [waits] = await Promise.all([measureOrdinaryRequests(url, end), ...assault])
  return waits
}
