/**
 * Native scorers against the library's, on right, mutated and garbage answers; with --tasks-path, scorers in TypeScript of own
 * tasks against their Python scorers.
 *   npm run verify -- differential [--task NAME] [--answers 2000] [--seed 1] [--tasks-path PLACE]
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { NATIVE_TASKS } from '@reasoning-gym-server/scorers/native-scorers'
import { PythonEngine } from '../src/engine/python-engine.ts'
import { Ladders } from '../src/features/tasks/ladders.ts'
import { ScorerThreadPool } from '../src/grading/scorer-thread-pool.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python-environment.ts'
import { compareOwnTask, compareTask } from './differential/compare.ts'

const { values } = parseArgs({
  options: {
    task: { type: 'string' },
    answers: { type: 'string', default: '2000' },
    seed: { type: 'string' },
    'tasks-path': { type: 'string' },
    help: { type: 'boolean' },
  },
})
if (values.help) {
  console.log('npm run verify -- differential [--task NAME] [--answers 2000] [--seed 1] [--tasks-path PLACE]')
  process.exit(0)
}
const seed = values.seed === undefined ? Date.now() % 1e9 : Number(values.seed)
const engine = new PythonEngine({
  pythonPath: await ensurePythonEnvironment(console.error),
  taskPlaces: values['tasks-path'] === undefined ? [] : [resolve(values['tasks-path'])],
  workersPerPool: 2,
  scoreDeadlineMs: 2000,
  makeDeadlineMs: 10_000,
})
await engine.waitUntilStarted()
const ladders = new Ladders()
console.log(`seed ${seed}`)
let answers = 0
let differing = 0
const tasks = await engine.tasks()
const ownTasks = Object.keys(tasks).filter((task) => tasks[task]?.own?.scorer)
const threadPool = new ScorerThreadPool(1, 2000)
const listed = values['tasks-path'] === undefined ? NATIVE_TASKS : ownTasks
for (const task of values.task === undefined ? listed : [values.task]) {
  const comparison = ownTasks.includes(task)
    ? await compareOwnTask({ engine, threadPool }, task, Number(values.answers), seed)
    : await compareTask(engine, ladders, task, Number(values.answers), seed)
  answers += comparison.answers
  differing += comparison.differences.length
  console.log(`${task}: ${comparison.answers} answers, ${comparison.differences.length} differ`)
  for (const { recipe, answer, library, native } of comparison.differences.slice(0, 5)) {
    console.log(`  ${JSON.stringify(answer).slice(0, 200)}: library ${library}, native ${native}   ${recipe}`)
  }
}
console.log(`${answers} answers, ${differing} differ`)
await Promise.all([engine.close(), threadPool.close()])
process.exit(differing > 0 ? 1 : 0)
