/**
 * The real client packages of trainers against a real server. Each family has an entry in trainers/versions.json, which pins its
 * packages, and a script for its wire format. Ends with 1 if a check fails.
 */
import { parseArgs } from 'node:util'
import { writeTrainerPages } from '../scripts/reference/trainers.ts'
import { PythonModuleError } from '../src/main/bootstrap/python/venv.ts'
import { Environments } from './trainers/environments.ts'
import { type FamilyReport, runScript } from './trainers/run-script.ts'
import { openTestbed } from './trainers/testbed.ts'
import { describePackages, type Family, readFamilies, recordProofs } from './trainers/versions.ts'

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    newest: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
})
const families = readFamilies()
const unknown = names.filter((name) => !families.some((family) => family.name === name))
if (unknown.length > 0) throw new Error(`There is no family ${unknown.join(', ')}; --list shows them.`)
const chosen = families.filter(
  ({ name, quick }) => (names.length === 0 || names.includes(name)) && (quick || !values.quick),
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)) // the server ends with us

if (values.list) {
  for (const family of families) console.log(describe(family))
  process.exit(0)
}
const failed = await runAll(chosen)
console.log(failed === 0 ? 'Every trainer passed.' : `${failed} of ${chosen.length} failed.`)
process.exit(failed === 0 ? 0 : 1)

/** How many fail. */
async function runAll(some: Family[]): Promise<number> {
  const environments = new Environments(families, values.newest, console.log)
  const testbed = await openTestbed(console.log)
  const passed: string[] = []
  const prepareAgain = (family: Family, { message }: Error) => {
    console.log(`  Preparing ${family.trainer} again: ${message}`) // a download may have failed
    return environments.prepare(family).catch((error: Error) => error)
  }
  const prepare = (family: Family | undefined) =>
    family && environments.prepare(family).catch((error: Error) => prepareAgain(family, error))
  let preparation = prepare(some[0])
  try {
    for (const [k, family] of some.entries()) {
      console.log(`\n${k + 1}/${some.length} ${family.trainer}`)
      const environment = await preparation
      preparation = prepare(some[k + 1]) // is installed while this one's checks run
      const report =
        environment instanceof Error || environment === undefined
          ? failedReport(environment)
          : await runScript(family, environment, testbed.env).catch(failedReport)
      if (report.failure === undefined && report.checks.every(({ ok }) => ok)) passed.push(family.name)
      else printFailure(report, testbed.output())
      await testbed.settle()
    }
  } finally {
    await testbed.close()
  }
  if (values.record && !values.newest) {
    recordProofs(passed)
    writeTrainerPages()
  }
  return some.length - passed.length
}

function failedReport(error: unknown): FamilyReport {
  const failure = error instanceof PythonModuleError ? error.summary : String(error)
  return { checks: [], failure, output: '' }
}

function printFailure({ failure, output }: FamilyReport, serverOutput: string): void {
  if (failure !== undefined) console.log(`  FAIL ${failure}`)
  console.log(output.trimEnd().replaceAll(/^/gm, '  | '))
  console.log(serverOutput.slice(-3000).trimEnd().replaceAll(/^/gm, '  server | '))
}

function describe(family: Family): string {
  const { name, quick, proven } = family
  const state = proven === null ? 'not proven yet' : `proven on ${proven}`
  return `${name.padEnd(16)} ${(quick ? 'quick' : '').padEnd(6)} ${state.padEnd(22)} ${describePackages(family)}`
}
