/**
 * Writes the right answer of every task in the notations of people and chat models, and shows in how many tasks each of them is paid
 * in full, by the library and by hardened scoring. Exit 1 where hardened scoring pays a notation in less than 95 % of its tasks.
 */
import { parseArgs } from 'node:util'
import { PythonEngine } from '../src/engine/python-engine.ts'
import { makeHardenedItems } from '../src/grading/hardened-item.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'
import { NOTATIONS, type NotationKind } from './notations/table.ts'

const MIN_SHARE = 0.95

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { items: { type: 'string', default: '5' }, seed: { type: 'string', default: '4000' } },
})
const python = await ensurePythonEnvironment(console.error)
const engine = new PythonEngine({
  pythonPath: python,
  workersPerPool: 2,
  scoreDeadlineMs: 5000,
  makeDeadlineMs: 10_000,
})
await engine.waitUntilStarted()

/** The tasks in which each notation can be written, and those in which every item is paid. */
const tallies = new Map(NOTATIONS.map(({ name }) => [name, { tasks: 0, upstream: 0, unpaid: [] as string[] }]))
for (const task of positionals.length > 0 ? positionals : Object.keys(await engine.tasks()).toSorted())
  await measureTask(task)
await engine.close()

const kinds: NotationKind[] = ['whole answer', 'number', 'list', 'grid']
let isMissed = false
for (const kind of kinds) {
  console.log(`\n| ${kind} | tasks | library | hardened | not paid by hardened scoring |\n|---|--:|--:|--:|---|`)
  for (const { name } of NOTATIONS.filter((notation) => notation.kind === kind)) {
    const { tasks, upstream, unpaid } = tallies.get(name) ?? { tasks: 0, upstream: 0, unpaid: [] }
    if (tasks === 0) continue
    console.log(`| ${name} | ${tasks} | ${upstream} | ${tasks - unpaid.length} | ${unpaid.join(', ')} |`)
    if (tasks - unpaid.length < MIN_SHARE * tasks) isMissed = true
  }
}
process.exit(isMissed ? 1 : 0)

async function measureTask(task: string): Promise<void> {
  const places = Array.from({ length: Number(values.items) }, (_, k): [number, number] => [Number(values.seed) + k, 0])
  const made = await makeHardenedItems(engine, task, await engine.canonicalizeConfig(task, {}), places)
  const items = made.filter(({ rightKey, isAnswerable }) => rightKey !== null && isAnswerable)
  for (const { name, kind, write } of NOTATIONS) {
    if (task === 'codeio' && kind !== 'whole answer') continue // other brackets or quotes are other JSON
    const paid = { upstream: true, hardened: true }
    let count = 0
    for (const item of items) {
      const answer = write(item.rightKey ?? '')
      if (answer === undefined) continue
      count++
      const [hardened = 0] = await item.score([answer])
      const [upstream = 0] = await item.scoreUpstream([answer])
      paid.hardened &&= hardened === 1
      paid.upstream &&= upstream >= 1
    }
    const tally = tallies.get(name)
    if (count === 0 || !tally) continue
    tally.tasks++
    if (paid.upstream) tally.upstream++
    if (!paid.hardened) tally.unpaid.push(task)
  }
  console.error(task)
}
