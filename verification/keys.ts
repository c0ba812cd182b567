/**
 * Compares the library's answer keys with second opinions, which read the question alone: keys/tasks/TASK.py. At the
 * defaults and on every rung. Exit 1 where hardened scoring and notes leave a fault.
 */
import { parseArgs } from 'node:util'
import { PythonEngine } from '../src/engine/python-engine.ts'
import { wilsonInterval } from '../src/features/evals/statistics/means.ts'
import { Ladders } from '../src/features/tasks/ladders.ts'
import { makeHardenedItems } from '../src/grading/hardened-item.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'
import { FINDINGS, type Finding, findFaults } from './keys/findings.ts'
import { plantLostRules, plantWrongKeys } from './keys/planted.ts'
import { KeyTally, recordKeyChecks } from './keys/recording.ts'
import { hasOpinion, SecondOpinion } from './keys/second-opinion.ts'
import { listPositions } from './reward-hacks/search.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    items: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1000' },
    rungs: { type: 'string' },
    show: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '600' },
    record: { type: 'boolean', default: false },
    planted: { type: 'boolean', default: false },
  },
})
const python = await ensurePythonEnvironment(console.error)
const engine = new PythonEngine({
  pythonPath: python,
  workersPerPool: 2,
  scoreDeadlineMs: 5000,
  makeDeadlineMs: 10_000,
})
await engine.waitUntilStarted()
const ladders = new Ladders()
const tasks = positionals.length > 0 ? positionals : Object.keys(await engine.tasks()).toSorted()
let isFaulty = false
let [tries, found] = [0, 0]
for (const task of tasks) {
  if (!hasOpinion(task)) {
    console.log(`${task}: no second opinion`)
    isFaulty = true
  } else if (await (values.planted ? plantFaults(task) : compareTask(task))) isFaulty = true
}
if (values.planted) console.log(`${found} of ${tries} planted faults were found (${formatShare(found, tries)})`)
await engine.close()
process.exit(isFaulty ? 1 : 0)

/** The defaults, then the rungs. */
function listCells(task: string): [name: string, config: Record<string, unknown>][] {
  const rungs = ladders.rungs(task).map(({ config }, k): [string, typeof config] => [`rung ${k}`, config])
  const named = values.rungs?.split(',').map((k) => `rung ${k}`)
  return [['defaults', {}], ...(named ? rungs.filter(([name]) => named.includes(name)) : rungs)]
}

/** Whether fewer than 99 of 100 planted faults are found at the defaults and on the rungs that are compared. */
async function plantFaults(task: string): Promise<boolean> {
  const opinion = new SecondOpinion(python, task)
  await opinion.about()
  let [taskTries, taskFound] = [0, 0]
  const missed: string[] = []
  try {
    for (const [, config] of listCells(task)) {
      const places = listPositions(task, Number(values.seed), Number(values.items))
      const items = await makeHardenedItems(engine, task, await engine.canonicalizeConfig(task, config), places)
      for (const planted of [await plantWrongKeys(items, opinion), await plantLostRules(items, opinion)]) {
        taskTries += planted.tries
        taskFound += planted.found
        missed.push(...planted.missed)
      }
    }
  } finally {
    opinion.close()
  }
  tries += taskTries
  found += taskFound
  console.log(`${task}: ${taskFound} of ${taskTries} planted faults were found`)
  for (const text of missed.slice(0, Number(values.show))) console.log(`  missed: ${text.slice(0, 200)}`)
  return taskFound < 0.99 * taskTries
}

/** Whether hardened scoring leaves a fault. */
async function compareTask(task: string): Promise<boolean> {
  const opinion = new SecondOpinion(python, task)
  const { why } = await opinion.about()
  if (why !== null) console.log(`${task}: ${why}`)
  const tally = new KeyTally()
  const started = performance.now()
  try {
    for (const [cell, config] of listCells(task)) {
      if (performance.now() - started > 1000 * Number(values.seconds)) {
        console.log(`${task}: stopped before ${cell}, after ${values.seconds} s`)
        break
      }
      const places = listPositions(task, Number(values.seed), Number(values.items))
      const items = await makeHardenedItems(engine, task, await engine.canonicalizeConfig(task, config), places)
      tally.openCell()
      for (const [k, item] of items.entries()) {
        const place = (detail: string) => `${cell}, item ${k}: ${detail.slice(0, 300)}\n${item.question.slice(-700)}`
        tally.add((await findFaults(item, opinion)).map(({ finding, detail }) => ({ finding, detail: place(detail) })))
      }
      const shares = [...tally.cell.counts].map(([finding, count]) => `${finding} ${formatShare(count, items.length)}`)
      console.log(`${task}, ${cell}: ${items.length} items${shares.length > 0 ? `, ${shares.join(', ')}` : ''}`)
    }
  } finally {
    opinion.close()
  }
  for (const [finding, texts] of tally.examples)
    console.log(`\n# ${finding}: ${FINDINGS[finding].about}\n${texts.slice(0, Number(values.show)).join('\n---\n')}\n`)
  const { items, counts } = tally.total
  const sums = [...counts].map(([finding, count]) => `${finding} ${formatShare(count, items)}`)
  console.log(`${task}: ${items} items; ${sums.length > 0 ? sums.join(', ') : 'nothing found'}`)
  if (values.record) recordKeyChecks(task, { ...tally.summarize(), limits: why })
  return [...counts.keys()].some((finding: Finding) => FINDINGS[finding].scoring === 'hardened')
}

function formatShare(count: number, items: number): string {
  const share = count / items
  const [low, high] = wilsonInterval(share, Math.sqrt((share * (1 - share)) / items), items)
  return `${(100 * share).toFixed(1)} % (${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)})`
}
