/**
 * main: measures this server side by side with the alternatives. README.md describes the measurements.
 *   npm run bench [-- --only score,rollouts] [--rounds 3] [--seconds 5] [--without WORKAROUND]
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { WORKAROUNDS } from './ablation/workarounds.ts'
import type { Bench, Benchmark, BenchRow } from './bench-row.ts'
import { BENCH_ARTIFACTS_DIR, describeMachine, getBusyCpuSeconds } from './machine.ts'
import { benchmarkAdapters } from './parts/adapters.ts'
import { benchmarkAlternatives } from './parts/alternatives.ts'
import { benchmarkCodeio } from './parts/codeio.ts'
import { benchmarkConnections } from './parts/connections.ts'
import { benchmarkGrowth } from './parts/growth.ts'
import { benchmarkItems } from './parts/items.ts'
import { benchmarkOpenLoop } from './parts/open-loop.ts'
import { benchmarkRollouts } from './parts/rollouts.ts'
import { benchmarkScore } from './parts/score.ts'
import { benchmarkStart } from './parts/start.ts'
import { benchmarkTokens } from './parts/tokens.ts'
import { benchmarkWorkers } from './parts/workers.ts'
import { formatResultTable, renderResultChart } from './report.ts'

/** Those that stand `apart` run only by name. */
const BENCHMARKS: Record<string, { part: Benchmark; apart?: boolean }> = {
  score: { part: benchmarkScore },
  codeio: { part: benchmarkCodeio },
  items: { part: benchmarkItems },
  rollouts: { part: benchmarkRollouts },
  tokens: { part: benchmarkTokens },
  connections: { part: benchmarkConnections },
  workers: { part: benchmarkWorkers },
  'open-loop': { part: benchmarkOpenLoop },
  start: { part: benchmarkStart },
  alternatives: { part: benchmarkAlternatives, apart: true },
  adapters: { part: benchmarkAdapters, apart: true },
  growth: { part: benchmarkGrowth, apart: true },
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    without: { type: 'string' },
    help: { type: 'boolean' },
  },
})
const names = values.only?.split(',') ?? Object.keys(BENCHMARKS).filter((name) => !BENCHMARKS[name]?.apart)
const unknown = names.filter((name) => !BENCHMARKS[name])
const isUnknownWorkaround = values.without !== undefined && !WORKAROUNDS[values.without]
if (values.help || unknown.length > 0 || isUnknownWorkaround) {
  console.log(
    `npm run bench -- [--only ${Object.keys(BENCHMARKS).join(',')}] [--rounds 3] [--seconds 5] [--without ${Object.keys(WORKAROUNDS).join('|')}]`,
  )
  process.exit(values.help ? 0 : 2)
}
if (values.without !== undefined) {
  const preload = join(import.meta.dirname, 'ablation', 'preload.ts')
  process.env.BENCH_WITHOUT = values.without
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${preload}`.trim()
}

const startedAt = new Date()
const before = { at: performance.now(), busy: getBusyCpuSeconds() }
const idle = await measureIdleCores()
const about = {
  ...describeMachine(),
  started: startedAt.toISOString(),
  busyBefore: idle,
  rounds: Number(values.rounds),
}
const measurements: { name: string; measured: object }[] = []
const bench: Bench = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  record: (name, measured) => {
    measurements.push({ name, measured })
    console.error(`bench: ${name} ${JSON.stringify(measured)}`)
  },
}
const rows: BenchRow[] = []
const failures: Record<string, string> = {}
for (const name of names) {
  const from = performance.now()
  try {
    rows.push(...((await BENCHMARKS[name]?.part(bench)) ?? []))
  } catch (error) {
    failures[name] = error instanceof Error ? error.message : String(error)
    console.error(`bench: ${name} failed:`, error)
  }
  console.error(`bench: ${name} took ${Math.round((performance.now() - from) / 1000)} s`)
  writeResults() // what is measured is kept, whatever comes after
}
console.log(`\n${formatResultTable(rows)}\n`)
console.log(
  `${Math.round((performance.now() - before.at) / 1000)} s; ${formatBusyCores()}; results in ${BENCH_ARTIFACTS_DIR}`,
)
process.exit(Object.keys(failures).length > 0 ? 1 : 0)

function writeResults(): void {
  mkdirSync(BENCH_ARTIFACTS_DIR, { recursive: true })
  const parts = values.only === undefined ? 'bench' : `bench-${names.join('-')}`
  const name = values.without === undefined ? parts : `${parts}-without-${values.without}`
  writeFileSync(
    join(BENCH_ARTIFACTS_DIR, `${name}.json`),
    `${JSON.stringify({ machine: about, rows, failures, measurements }, null, 1)}\n`,
  )
  writeFileSync(join(BENCH_ARTIFACTS_DIR, `${name}.md`), `${formatResultTable(rows)}\n`)
  writeFileSync(join(BENCH_ARTIFACTS_DIR, `${name}.svg`), renderResultChart(rows))
}

/** Cores that were busy while this process did nothing. */
async function measureIdleCores(): Promise<number> {
  const [from, seconds] = [getBusyCpuSeconds(), 1]
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  return (getBusyCpuSeconds() - from) / seconds
}

function formatBusyCores(): string {
  return `${idle.toFixed(2)} of ${about.cores} cores were busy before`
}
