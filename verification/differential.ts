/**
 * Native scorers against the library's, on right, mutated and garbage answers; with --tasks-path, scorers in TypeScript of custom
 * tasks against their Python scorers.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { NATIVE_TASKS, PARTIAL_SCORERS } from '@reasoning-gym-server/scorers/native-scorers'
import { PythonEngine } from '../src/engine/python-engine.ts'
import { Ladders } from '../src/features/tasks/ladders.ts'
import { ScorerThreadPool } from '../src/grading/scorer-thread-pool.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'
import { compareCustomTask, compareTask } from './differential/compare.ts'

const { values } = parseArgs({
  options: {
    task: { type: 'string' },
    answers: { type: 'string', default: '2000' },
    seed: { type: 'string' },
    'tasks-path': { type: 'string' },
  },
})
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
const customTasks = Object.keys(tasks).filter((task) => tasks[task]?.custom?.scorer)
const threadPool = new ScorerThreadPool(1, 2000)
const listed = values['tasks-path'] === undefined ? [...NATIVE_TASKS, ...Object.keys(PARTIAL_SCORERS)] : customTasks
for (const task of values.task === undefined ? listed : [values.task]) {
  const comparison = customTasks.includes(task)
    ? await compareCustomTask({ engine, threadPool }, task, Number(values.answers), seed)
    : await compareTask(engine, ladders, task, Number(values.answers), seed)
  answers += comparison.answers
  differing += comparison.differences.length
  const undecided = comparison.undecided > 0 ? `, ${comparison.undecided} left to the library` : ''
  console.log(`${task}: ${comparison.answers} answers${undecided}, ${comparison.differences.length} differ`)
  for (const { recipe, answer, library, native } of comparison.differences.slice(0, 5)) {
    console.log(`  ${JSON.stringify(answer).slice(0, 200)}: library ${library}, native ${native}   ${recipe}`)
  }
}
console.log(`${answers} answers, ${differing} differ`)
await Promise.all([engine.close(), threadPool.close()])
process.exit(differing > 0 ? 1 : 0)
