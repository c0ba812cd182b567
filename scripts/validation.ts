/**
 * npm run validation -- [--task NAME …] [--show]: measures the tasks for `GET /tasks/{task}/validation`, and writes the figures to
 * src/features/tasks/validation/validation.json. --show prints each answer whose verdict contradicts its label.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { MeasuredRung } from '@reasoning-gym-server/task-tools/validation/figures'
import { measureTask } from '@reasoning-gym-server/task-tools/validation/measure'
import { buildTruthTable } from '@reasoning-gym-server/task-tools/validation/truth-table'
import { PythonEngine } from '../src/engine/python-engine.ts'
import { TASK_NAMES } from '../src/features/tasks/built-in-tasks.ts'
import { Ladders } from '../src/features/tasks/ladders.ts'
import { hashConfig } from '../src/features/tasks/task-cards.ts'
import { RecordedValidations, VALIDATION_FILE } from '../src/features/tasks/validation/recorded.ts'
import { makeHardenedItems } from '../src/grading/hardened-item.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'

const { values } = parseArgs({
  options: {
    task: { type: 'string', multiple: true, default: TASK_NAMES },
    show: { type: 'boolean', default: false },
  },
})
/** Longer than the server's, since the machine may be busy with other things. */
const options = {
  pythonPath: await ensurePythonEnvironment(console.error),
  workersPerPool: 1,
  scoreDeadlineMs: 5000,
  makeDeadlineMs: 20_000,
}
const [engine, otherEngine] = [new PythonEngine(options), new PythonEngine(options)]
await Promise.all([engine.waitUntilStarted(), otherEngine.waitUntilStarted()])
await otherEngine.tasks()
const ladders = new Ladders()
const file = RecordedValidations.parse(JSON.parse(readFileSync(VALIDATION_FILE, 'utf8')))
file.engine = engine.version
for (const task of values.task) {
  const shown = new Set<string>()
  const measured = await measureTask(
    {
      engine,
      otherEngine,
      makeItems: (...of) => makeHardenedItems(engine, ...of),
      hashConfig,
      onWrongVerdict(scoring, { kind, form, text }, reference) {
        const line = `  ${scoring} ${kind} (${form})`
        if (values.show && !shown.has(line)) console.log(line, JSON.stringify([text, reference]).slice(0, 300))
        shown.add(line)
      },
    },
    task,
    [{}, ...ladders.rungs(task).map(({ config }) => config)],
  )
  file.tasks[task] = measured
  const describe = (scoring: 'upstream' | 'hardened') => {
    const { true_positive_rate, false_positive_rate, youden_j } = buildTruthTable(measured.truth, scoring)
    return `${scoring} J ${youden_j.value} (${true_positive_rate.rate} of ${true_positive_rate.n}, ${false_positive_rate.rate} of ${false_positive_rate.n})`
  }
  const { malformed, unstable, unportable } = measured.scores
  const different = measured.rungs.reduce((sum, rung) => sum + rung.different, 0)
  const faults = Object.entries({ malformed, unstable, unportable, different }).filter(([, count]) => count > 0)
  console.log(task, describe('upstream'), describe('hardened'), faults.flat().join(' '))
  save()
}
await Promise.all([engine.close(), otherEngine.close()])

function save(): void {
  const lines = Object.entries(file.tasks)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([task, { rungs, ...measured }]) => {
      const rows = rungs.map((rung) => `   ${JSON.stringify(Object.values(MeasuredRung.parse(rung)))}`).join(',\n')
      return `  "${task}": {${JSON.stringify(measured).slice(1, -1)}, "rungs": [\n${rows}\n  ]}`
    })
  writeFileSync(VALIDATION_FILE, `{\n "engine": "${file.engine}",\n "tasks": {\n${lines.join(',\n')}\n }\n}\n`)
}
