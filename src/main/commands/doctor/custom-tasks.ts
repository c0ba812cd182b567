/** Checks the tasks of TASKS_PATH: which there are, and which files give none. */

import { type Finding, fail, ok, warn } from '@reasoning-gym-server/cli/findings'
import { createEngineOptions } from '../../../engine/create-engine.ts'
import { PythonEngine } from '../../../engine/python-engine.ts'
import type { ServerConfig } from '../../../platform/environment.ts'
import { getEnginePython } from '../../../platform/installation.ts'
import { getVenvState, venvPythonPath } from '../../bootstrap/python/python-environment.ts'

/** Undefined without TASKS_PATH, and before the first start has installed the library. */
export async function checkCustomTasks(config: ServerConfig): Promise<Finding | undefined> {
  const python = getEnginePython() ?? (getVenvState() === 'ready' ? venvPythonPath() : undefined)
  if (config.TASKS_PATH === undefined || python === undefined) return undefined
  const engine = new PythonEngine({ ...createEngineOptions(config, python), workersPerPool: 1 })
  try {
    await engine.waitUntilStarted()
    const custom = Object.entries(await engine.tasks()).flatMap(([task, { custom: definition }]) =>
      definition ? [task] : [],
    )
    const [problem] = engine.taskProblems
    if (problem) {
      const more = engine.taskProblems.length > 1 ? ` (and ${engine.taskProblems.length - 1} more)` : ''
      return fail(
        'Custom tasks',
        `${problem.file}: ${problem.detail}${more}`,
        'run "reasoning-gym-server task check" on TASKS_PATH',
      )
    }
    return custom.length > 0
      ? ok('Custom tasks', custom.join(', '))
      : warn(
          'Custom tasks',
          `TASKS_PATH=${config.TASKS_PATH} has no task`,
          'write one with "reasoning-gym-server task new"',
        )
  } catch (error) {
    return fail('Custom tasks', error instanceof Error ? error.message : String(error), 'correct TASKS_PATH')
  } finally {
    await engine.close()
  }
}
