/**
 * Native scorers against the library's, on right, mutated and garbage answers.
 *   npm run verify -- differential [--task NAME] [--answers 2000] [--seed 1]
 */
import { parseArgs } from 'node:util'
import { PythonEngine } from '../src/engine/python-engine.ts'
import { Ladders } from '../src/features/tasks/ladders.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python-environment.ts'
import { NATIVE_TASKS } from '../src/scorers/native-scorers.ts'
import { compareTask } from './differential/compare.ts'

const { values } = parseArgs({
  options: {
    task: { type: 'string' },
    answers: { type: 'string', default: '2000' },
    seed: { type: 'string' },
    help: { type: 'boolean' },
  },
})
if (values.help) {
  console.log('npm run verify -- differential [--task NAME] [--answers 2000] [--seed 1]')
  process.exit(0)
}
const seed = values.seed === undefined ? Date.now() % 1e9 : Number(values.seed)
const engine = new PythonEngine({
  pythonPath: await ensurePythonEnvironment(console.error),
  workersPerPool: 2,
  scoreDeadlineMs: 2000,
  makeDeadlineMs: 10_000,
})
await engine.waitUntilStarted()
const ladders = new Ladders()
console.log(`seed ${seed}`)
let answers = 0
let differing = 0
for (const task of values.task === undefined ? NATIVE_TASKS : [values.task]) {
  const comparison = await compareTask(engine, ladders, task, Number(values.answers), seed)
  answers += comparison.answers
  differing += comparison.differences.length
  console.log(`${task}: ${comparison.answers} answers, ${comparison.differences.length} differ`)
  for (const { recipe, answer, library, native } of comparison.differences.slice(0, 5)) {
    console.log(`  ${JSON.stringify(answer).slice(0, 200)}: library ${library}, native ${native}   ${recipe}`)
  }
}
console.log(`${answers} answers, ${differing} differ`)
await engine.close()
process.exit(differing > 0 ? 1 : 0)
