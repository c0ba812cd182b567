/**
 * Compares the library's answer keys with second opinions, which read the question alone: keys/tasks/TASK.py. At the
 * defaults and on every rung. Exit 1 where hardened scoring and notes leave a fault.
 */
import { parseArgs } from 'node:util'
import { PythonEngine } from '../src/engine/python-engine.ts'
import { wilsonInterval } from '../src/features/evals/statistics/means.ts'
import { Ladders } from '../src/features/tasks/ladders.ts'
import { makeHardenedItems } from '../src/features/tasks/validation/hardened-item.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'
import { FAULTS, FINDINGS, type Finding, findFaults } from './keys/findings.ts'
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
for (const task of tasks) {
  if (!hasOpinion(task)) {
    console.log(`${task}: no second opinion`)
    isFaulty = true
  } else if (await compareTask(task)) isFaulty = true
}
await engine.close()
process.exit(isFaulty ? 1 : 0)

/** The defaults, then the rungs. */
function listCells(task: string): [name: string, config: Record<string, unknown>][] {
  const rungs = ladders.rungs(task).map(({ config }, k): [string, typeof config] => [`rung ${k}`, config])
  const named = values.rungs?.split(',').map((k) => `rung ${k}`)
  return [['defaults', {}], ...(named ? rungs.filter(([name]) => named.includes(name)) : rungs)]
}

async function compareTask(task: string): Promise<boolean> {
  const opinion = new SecondOpinion(python, task)
  const { why } = await opinion.about()
  if (why !== null) console.log(`${task}: ${why}`)
  const totals = new Map<Finding, number>()
  const examples = new Map<Finding, string[]>()
  let items = 0
  const started = performance.now()
  try {
    for (const [cell, config] of listCells(task)) {
      if (performance.now() - started > 1000 * Number(values.seconds)) {
        console.log(`${task}: stopped before ${cell}, after ${values.seconds} s`)
        break
      }
      const canonical = await engine.canonicalizeConfig(task, config)
      const found = new Map<Finding, number>()
      const made = await makeHardenedItems(
        engine,
        task,
        canonical,
        listPositions(task, Number(values.seed), Number(values.items)),
      )
      for (const [k, item] of made.entries()) {
        const faults = await findFaults(item, opinion)
        for (const finding of new Set(faults.map(({ finding }) => finding))) {
          found.set(finding, (found.get(finding) ?? 0) + 1)
          const shown = examples.get(finding) ?? []
          examples.set(finding, shown)
          const detail = faults.find((fault) => fault.finding === finding)?.detail ?? ''
          if (shown.length < Number(values.show))
            shown.push(`${cell}, item ${k}: ${detail.slice(0, 300)}\n${item.question.slice(-700)}`)
        }
      }
      items += made.length
      for (const [finding, count] of found) totals.set(finding, (totals.get(finding) ?? 0) + count)
      const shares = [...found].map(([finding, count]) => `${finding} ${formatShare(count, made.length)}`)
      console.log(`${task}, ${cell}: ${made.length} items${shares.length > 0 ? `, ${shares.join(', ')}` : ''}`)
    }
  } finally {
    opinion.close()
  }
  for (const [finding, texts] of examples)
    console.log(`\n# ${finding}: ${FINDINGS[finding]}\n${texts.join('\n---\n')}\n`)
  const sums = [...totals].map(([finding, count]) => `${finding} ${formatShare(count, items)}`)
  console.log(`${task}: ${items} items; ${sums.length > 0 ? sums.join(', ') : 'nothing found'}`)
  return FAULTS.some((fault) => totals.has(fault))
}

function formatShare(count: number, items: number): string {
  const share = count / items
  const [low, high] = wilsonInterval(share, Math.sqrt((share * (1 - share)) / items), items)
  return `${(100 * share).toFixed(1)} % (${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)})`
}
