/**
 * The real client packages of trainers against a real server. Each family has an entry in trainers/versions.json, which pins its
 * packages, and a script for its wire format. Ends with 1 if a check fails.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { updateProvenTable } from '../scripts/reference/trainers.ts'
import { PythonModuleError } from '../src/main/bootstrap/python/venv.ts'
import { Environments } from './trainers/environments.ts'
import { createRun, makeFixture } from './trainers/fixture.ts'
import { type Check, type FamilyReport, runScript } from './trainers/run-script.ts'
import { openTestbed } from './trainers/testbed.ts'
import { describePackages, type Family, readFamilies, recordProofs } from './trainers/versions.ts'

const GUIDE = join(import.meta.dirname, '..', 'docs', 'guides', 'trainers.md')

interface Options {
  quick: boolean
  newest: boolean
  list: boolean
  record: boolean
  venvs?: string
}

const command = new Command('trainers')
  .argument('[names...]', 'families to run; none: all')
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
const reports = await runAll(choose(command.args))
process.exit(conclude(reports) ? 0 : 1)

function choose(names: string[]): Family[] {
  const unknown = names.filter((name) => !families.some((family) => family.name === name))
  if (unknown.length > 0) command.error(`There is no family ${unknown.join(', ')}; --list shows them.`)
  const named = families.filter(({ name }) => names.length === 0 || names.includes(name))
  return named.filter(({ quick }) => quick || !options.quick)
}

async function runAll(some: Family[]): Promise<Map<Family, FamilyReport>> {
  const found = new Map<Family, FamilyReport>()
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
      const run = `trainers-${family.name}`
      try {
        const environment = await preparing[k]
        if (environment === undefined) continue
        await createRun(testbed, run)
        const params = { family, environment, testbed, fixture: { ...fixture, run }, folder, onCheck: printCheck }
        found.set(family, await runScript(params))
      } catch (error) {
        const failure = error instanceof PythonModuleError ? error.summary : String(error)
        found.set(family, { checks: [], failure, output: '', seconds: 0 })
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
      printFailure(found.get(family), testbed.output())
      await testbed.settle()
    }
  } finally {
    await testbed.close()
  }
  return found
}

function hasPassed({ checks, failure }: FamilyReport): boolean {
  return failure === undefined && checks.every(({ ok }) => ok)
}

/** Prints a line for each family; whether all have passed. */
function conclude(found: Map<Family, FamilyReport>): boolean {
  console.log()
  for (const [family, report] of found) {
    const { checks, seconds } = report
    const good = `${checks.filter(({ ok }) => ok).length}/${checks.length}`
    const word = hasPassed(report) ? 'ok' : 'FAILED'
    const packages = options.newest ? '' : describePackages(family)
    const time = String(seconds).padStart(4)
    console.log(`${family.name.padEnd(12)} ${word.padEnd(7)} ${good.padEnd(7)} checks  ${time} s  ${packages}`)
  }
  const passed = [...found].filter(([, report]) => hasPassed(report))
  if (options.record && !options.newest) {
    recordProofs(new Map(passed.map(([{ name }, { checks }]) => [name, checks.length])))
    writeFileSync(GUIDE, updateProvenTable(readFileSync(GUIDE, 'utf8')))
  }
  const failed = found.size - passed.length
  console.log(failed === 0 ? 'Every trainer passed.' : `${failed} of ${found.size} failed.`)
  return found.size > 0 && failed === 0
}

function printCheck({ check, ok, detail }: Check): void {
  console.log(`  ${ok ? 'ok  ' : 'FAIL'} ${check}${detail === '' ? '' : `: ${detail}`}`)
}

function printFailure(report: FamilyReport | undefined, serverOutput: string): void {
  if (report === undefined || hasPassed(report)) return
  if (report.failure !== undefined) console.log(`  FAIL ${report.failure}`)
  for (const [sign, text] of [
    ['', report.output],
    ['server ', serverOutput.slice(-3000)],
  ] as const)
    if (text !== '') console.log(text.trimEnd().replaceAll(/^/gm, `  ${sign}| `))
}

function describe(family: Family): string {
  const { name, quick, proven } = family
  const state = proven === null ? 'not proven yet' : `proven on ${proven.on}`
  return `${name.padEnd(12)} ${(quick ? 'quick' : '').padEnd(6)} ${state.padEnd(22)} ${describePackages(family)}`
}
