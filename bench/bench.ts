/**
 * main: measures the server side by side with what people would use instead. docs/performance.md says what and how.
 *   npm run bench [-- --only score,rollouts] [--rounds 3] [--seconds 5]
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ARTIFACTS, busySeconds, machine } from './machine.ts'
import { connections } from './parts/connections.ts'
import { growth } from './parts/growth.ts'
import { items } from './parts/items.ts'
import { rollouts } from './parts/rollouts.ts'
import { score } from './parts/score.ts'
import { tokens } from './parts/tokens.ts'
import { workers } from './parts/workers.ts'
import { chart, table } from './report.ts'
import type { Bench, Part, Row } from './rows.ts'

/** All but those that stand apart take less than ten minutes together. */
const PARTS: Record<string, { part: Part; apart?: boolean }> = {
  score: { part: score },
  items: { part: items },
  rollouts: { part: rollouts },
  tokens: { part: tokens },
  connections: { part: connections },
  workers: { part: workers },
  growth: { part: growth, apart: true },
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    help: { type: 'boolean' },
  },
})
const names = values.only?.split(',') ?? Object.keys(PARTS).filter((name) => !PARTS[name]?.apart)
const unknown = names.filter((name) => !PARTS[name])
if (values.help || unknown.length > 0) {
  console.log(`npm run bench -- [--only ${Object.keys(PARTS).join(',')}] [--rounds 3] [--seconds 5]`)
  process.exit(unknown.length > 0 ? 2 : 0)
}

const startedAt = new Date()
const before = { at: performance.now(), busy: busySeconds() }
const idle = await quiet()
const about = { ...machine(), started: startedAt.toISOString(), busyBefore: idle, rounds: Number(values.rounds) }
const measurements: { name: string; measured: object }[] = []
const bench: Bench = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  keep: (name, measured) => {
    measurements.push({ name, measured })
    console.error(`bench: ${name} ${JSON.stringify(measured)}`)
  },
}
const rows: Row[] = []
const failures: Record<string, string> = {}
for (const name of names) {
  const from = performance.now()
  try {
    rows.push(...((await PARTS[name]?.part(bench)) ?? []))
  } catch (error) {
    failures[name] = error instanceof Error ? error.message : String(error)
    console.error(`bench: ${name} failed:`, error)
  }
  console.error(`bench: ${name} took ${Math.round((performance.now() - from) / 1000)} s`)
  write() // what is measured is kept, whatever comes after
}
console.log(`\n${table(rows)}\n`)
console.log(`${Math.round((performance.now() - before.at) / 1000)} s; ${busyText()}; results in ${ARTIFACTS}`)
process.exit(Object.keys(failures).length > 0 ? 1 : 0)

function write(): void {
  mkdirSync(ARTIFACTS, { recursive: true })
  const name = values.only === undefined ? 'bench' : `bench-${names.join('-')}`
  writeFileSync(
    join(ARTIFACTS, `${name}.json`),
    `${JSON.stringify({ machine: about, rows, failures, measurements }, null, 1)}\n`,
  )
  writeFileSync(join(ARTIFACTS, `${name}.md`), `${table(rows)}\n`)
  writeFileSync(join(ARTIFACTS, `${name}.svg`), chart(rows))
}

/** Cores that were busy while this process did nothing. */
async function quiet(): Promise<number> {
  const [from, seconds] = [busySeconds(), 1]
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  return (busySeconds() - from) / seconds
}

function busyText(): string {
  return `${idle.toFixed(2)} of ${about.cores} cores were busy before`
}
