/** What each native scorer takes at worst, in milliseconds. */
import { parseArgs } from 'node:util'
import { NATIVE_TASKS, PARTIAL_SCORERS } from '@reasoning-gym-server/scorers/native-scorers'
import { PythonEngine } from '../src/engine/python-engine.ts'
import { Ladders } from '../src/features/tasks/ladders.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'
import { measureTaskCost, type ScoringCost } from './scoring-cost/measure.ts'

const { values } = parseArgs({
  options: {
    task: { type: 'string' },
    size: { type: 'string', default: '65536' },
    times: { type: 'string', default: '3' },
  },
})
const engine = new PythonEngine({
  pythonPath: await ensurePythonEnvironment(console.error),
  workersPerPool: 1,
  scoreDeadlineMs: 2000,
  makeDeadlineMs: 20_000,
})
await engine.waitUntilStarted()
const ladders = new Ladders()
const costs: ScoringCost[] = []
for (const task of values.task === undefined ? [...NATIVE_TASKS, ...Object.keys(PARTIAL_SCORERS)] : [values.task]) {
  costs.push(...(await measureTaskCost(engine, ladders, task, Number(values.size), Number(values.times))))
}
await engine.close()
console.log('| task | scoring | dearest answer | ms |\n|---|---|---|---|')
for (const { task, mode, answer, ms } of costs.toSorted((a, b) => b.ms - a.ms)) {
  console.log(`| ${task} | ${mode} | ${answer} | ${ms.toFixed(2)} |`)
}
