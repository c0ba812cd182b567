/**
 * npm run task-cards -- [--task NAME …] [--again] [--freeze]: measures how far each task can be guessed, at its defaults and on
 * each rung, writes artifacts/task-cards.json, and freezes it at the end as src/features/tasks/task-cards.json. Cards that one of
 * the two has already are kept, so an interrupted run goes on where it stopped, and after a change of a ladder only the rungs
 * that changed are measured.
 */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Config } from '@reasoning-gym-server/contract/recipe'
import { Presets, SingleBar } from 'cli-progress'
import { PythonEngine } from '../src/engine/python-engine.ts'
import { TASK_NAMES } from '../src/features/tasks/built-in-tasks.ts'
import { Ladders } from '../src/features/tasks/ladders.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'
import { CardStore, freezeTaskCards } from './task-cards/card-store.ts'
import { measureTaskCard } from './task-cards/measure.ts'

const CARDS_FILE = join(import.meta.dirname, '..', 'artifacts', 'task-cards.json')
/** Twice the server's, since the machine may be busy with other things. */
const MAKE_DEADLINE_MS = 20_000

const { values } = parseArgs({
  options: {
    task: { type: 'string', multiple: true, default: TASK_NAMES },
    again: { type: 'boolean', default: false },
    freeze: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log(`npm run task-cards -- [options]

  --task NAME   only this task (may be repeated)
  --again       measures again what has a card
  --freeze      measures nothing; freezes what has been measured`)
} else {
  const unknown = values.task.filter((task) => !TASK_NAMES.includes(task))
  if (unknown.length === 0) await measureMissingCards()
  else {
    console.error(`There is no task named ${unknown.join(', ')}; \`reasoning-gym-server tasks\` lists them`)
    process.exitCode = 2
  }
}

async function measureMissingCards(): Promise<void> {
  const engine = new PythonEngine({
    pythonPath: await ensurePythonEnvironment(console.error),
    workersPerPool: 1,
    scoreDeadlineMs: 5000,
    makeDeadlineMs: MAKE_DEADLINE_MS,
  })
  await engine.waitUntilStarted()
  mkdirSync(dirname(CARDS_FILE), { recursive: true })
  const store = new CardStore(CARDS_FILE, engine.version)
  const ladders = new Ladders()
  const configs = new Map(
    TASK_NAMES.map((task): [string, Config[]] => [task, [{}, ...ladders.rungs(task).map(({ config }) => config)]]),
  )
  store.prune(configs)
  const missing = (values.freeze ? [] : values.task).flatMap((task) =>
    (configs.get(task) ?? [])
      .filter((config) => values.again || !store.get(task, config))
      .map((config) => ({ task, config })),
  )
  const failures: string[] = []
  const bar = new SingleBar(
    {
      format: '{bar} {percentage} % | {value}/{total} cards | {eta_formatted} left | {task}',
      noTTYOutput: true,
      notTTYSchedule: 30_000,
    },
    Presets.shades_classic,
  )
  bar.start(missing.length, 0, { task: '' })
  for (const { task, config } of missing) {
    try {
      store.set(task, config, await measureTaskCard(engine, task, config))
      store.save()
    } catch (error) {
      failures.push(`${task} at ${JSON.stringify(config)}: ${error instanceof Error ? error.message : String(error)}`)
    }
    bar.increment({ task })
  }
  bar.stop()
  store.save()
  freezeTaskCards(store, ladders)
  await engine.close()
  if (failures.length === 0) return
  console.error(`\nWithout a card:\n${failures.join('\n')}`)
  process.exitCode = 1
}
