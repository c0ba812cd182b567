/**
 * Checks the tests: in a copy of the checkout, each fault of mutants/mutants.ts must make one of its tests fail. First, the same tests
 * must pass without a fault. Options: `--only TEXT` of a fault's name; `--keep` leaves the copy for a look.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { findSource, MUTANTS, type Mutant } from './mutants/mutants.ts'

const ROOT = join(import.meta.dirname, '..')
/** Faults that no test notices, of all. */
const MAX_SURVIVORS = 2

const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, keep: { type: 'boolean' } } })
const chosen = MUTANTS.filter(({ name }) => name.includes(values.only))
const checkout = copyCheckout()
try {
  for (const mutant of chosen) findSource(checkout, mutant)
  const tests = [...new Set(chosen.flatMap((mutant) => mutant.tests))]
  console.log(`Running ${tests.length} places of tests without a fault …`)
  const failure = runTests(tests)
  if (failure !== undefined) throw new Error(`They fail without a fault:\n${failure}`)
  const survivors = chosen.filter((mutant, k) => !isCaught(mutant, `${k + 1}/${chosen.length}`))
  console.log(`${chosen.length - survivors.length} of ${chosen.length} faults were caught.`)
  if (survivors.length > MAX_SURVIVORS) process.exitCode = 1
} finally {
  if (values.keep) console.log(`kept: ${checkout}`)
  else rmSync(checkout, { recursive: true, force: true, maxRetries: 5 })
}

function isCaught(mutant: Mutant, place: string): boolean {
  const { name, find, replace, tests } = mutant
  const file = findSource(checkout, mutant)
  const text = readFileSync(file, 'utf8')
  writeFileSync(
    file,
    text.replace(find, () => replace),
  )
  const startedAt = performance.now()
  const failure = runTests(tests)
  writeFileSync(file, text)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  console.log(`${place} ${failure === undefined ? 'SURVIVED' : 'caught'} in ${seconds} s: ${name}`)
  const caughtBy = failure && /FAIL +(.* > .*)/.exec(failure)?.[1]
  if (failure !== undefined && caughtBy === undefined) throw new Error(`No test failed, the run did:\n${failure}`)
  if (caughtBy) console.log(`      by ${caughtBy}`)
  return failure !== undefined
}

/** What the test run printed, if a test failed. */
function runTests(tests: string[]): string | undefined {
  const { status, stdout, stderr } = spawnSync('npx', ['vitest', 'run', '--bail', '1', '--reporter', 'dot', ...tests], {
    cwd: checkout,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
    maxBuffer: 1024 ** 3,
  })
  return status === 0 ? undefined : stdout + stderr
}

/** Files that git knows, changes included, and hard links to the installed packages. */
function copyCheckout(): string {
  const folder = join(ROOT, 'artifacts', 'mutants') // on the same disk, for the links
  rmSync(folder, { recursive: true, force: true })
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  for (const file of files.toString().split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(ROOT, file), join(folder, file), { force: true })
  }
  execFileSync('cp', ['-al', join(ROOT, 'node_modules'), join(ROOT, '.venv'), folder])
  return folder
}
