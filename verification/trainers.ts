/**
 * The real client packages of trainers against a real server. Each family has an entry in trainers/versions.json, which pins its
 * packages, and a script for its wire format. Ends with 1 if a check fails.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { updateProvenTable } from '../scripts/reference/trainers.ts'
import { PythonModuleError } from '../src/main/bootstrap/tethered-python.ts'
import { Environments } from './trainers/environments.ts'
import { createRun, makeFixture } from './trainers/fixture.ts'
import { type Check, type FamilyReport, runScript } from './trainers/run-script.ts'
import { openTestbed } from './trainers/testbed.ts'
import { describePackages, type Family, hasScript, readFamilies, recordProofs } from './trainers/versions.ts'

const GUIDE = join(import.meta.dirname, '..', 'docs', 'guides', 'trainers.md')

interface Options {
  quick: boolean
  newest: boolean
  list: boolean
  record: boolean
  venvs?: string
}

const command = new Command('trainers')
  .argument('[names...]', 'families to run; none: all that have a script')
  .option('--quick', 'only families that need no torch', false)
  .option('--newest', 'the newest releases in place of the pinned ones', false)
  .option('--list', 'show the families and end', false)
  .option('--record', 'write the date to the families that passed and to the table of docs/guides/trainers.md', false)
  .option('--venvs <folder>', 'where the virtual environments are; default: .venv-trainers')
  .parse()
const options = command.opts<Options>()
const families = readFamilies()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)) // the server ends with us

if (options.list) {
  for (const family of families) console.log(describe(family))
  process.exit(0)
}
const chosen = choose(command.args)
const reports = await runAll(chosen)
process.exit(conclude(reports) ? 0 : 1)

function choose(names: string[]): Family[] {
  const unknown = names.filter((name) => !families.some((family) => family.name === name))
  if (unknown.length > 0) command.error(`There is no family ${unknown.join(', ')}; --list shows them.`)
  const named = families.filter(({ name }) => names.length === 0 || names.includes(name))
  return named.filter((family) => hasScript(family) && (!options.quick || family.quick))
}

async function runAll(some: Family[]): Promise<Map<Family, FamilyReport>> {
  const reports = new Map<Family, FamilyReport>()
  const report = (line: string) => console.log(line)
  const environments = new Environments(families, { ...(options.venvs && { root: options.venvs }), ...options, report })
  const preparing = some.map((family) => environments.prepare(family))
  for (const one of preparing) one.catch(() => {}) // reported when its turn comes
  const testbed = await openTestbed(report)
  try {
    const fixture = await makeFixture(testbed)
    for (const [k, family] of some.entries()) {
      console.log(`\n${k + 1}/${some.length} ${family.trainer}`)
      const folder = mkdtempSync(join(tmpdir(), 'rgs-trainer-'))
      try {
        const environment = await preparing[k]
        if (environment === undefined) continue
        const run = `trainers-${family.name}`
        await createRun(testbed, run)
        const params = { family, environment, testbed, fixture: { ...fixture, run }, folder, onCheck: printCheck }
        reports.set(family, await runScript(params))
      } catch (error) {
        const failure = error instanceof PythonModuleError ? error.summary : String(error)
        reports.set(family, { checks: [], failure, output: '', seconds: 0 })
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
      printFailure(reports.get(family), testbed.output())
      await testbed.settle()
    }
  } finally {
    await testbed.close()
  }
  return reports
}

function conclude(reports: Map<Family, FamilyReport>): boolean {
  console.log()
  const passed = new Map<string, number>()
  for (const [family, report] of reports) {
    const good = report.checks.filter(({ ok }) => ok).length
    const isPassed = report.failure === undefined && good === report.checks.length
    if (isPassed) passed.set(family.name, good)
    const word = isPassed ? 'ok' : 'FAILED'
    console.log(
      `${family.name.padEnd(12)} ${word.padEnd(7)} ${`${good}/${report.checks.length}`.padEnd(7)} checks  ${String(report.seconds).padStart(4)} s  ${options.newest ? '' : describePackages(family)}`,
    )
  }
  if (options.record && !options.newest) {
    recordProofs(passed)
    writeFileSync(GUIDE, updateProvenTable(readFileSync(GUIDE, 'utf8')))
  }
  console.log(
    passed.size === reports.size ? 'Every trainer passed.' : `${reports.size - passed.size} of ${reports.size} failed.`,
  )
  return reports.size > 0 && passed.size === reports.size
}

function printCheck({ check, ok, detail }: Check): void {
  console.log(`  ${ok ? 'ok  ' : 'FAIL'} ${check}${detail === '' ? '' : `: ${detail}`}`)
}

function printFailure(report: FamilyReport | undefined, serverOutput: string): void {
  if (report === undefined || (report.failure === undefined && report.checks.every(({ ok }) => ok))) return
  if (report.failure !== undefined) console.log(`  FAIL ${report.failure}`)
  if (report.output !== '') console.log(report.output.trimEnd().replaceAll(/^/gm, '  | '))
  if (serverOutput !== '') console.log(serverOutput.trimEnd().slice(-3000).replaceAll(/^/gm, '  server | '))
}

function describe(family: Family): string {
  const { name, quick, proven } = family
  const state = hasScript(family) ? (proven === null ? 'not proven yet' : `proven on ${proven.on}`) : 'no script yet'
  return `${name.padEnd(12)} ${(quick ? 'quick' : '').padEnd(6)} ${state.padEnd(22)} ${describePackages(family)}`
}
