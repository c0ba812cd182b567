/** The engine of a process, which logs its health and its sandbox. */
import { delimiter } from 'node:path'
import type { Platform } from '../platform/platform.ts'
import type { Engine } from './engine.ts'
import { PythonEngine } from './python-engine.ts'
import { formatSandboxLayers, hasMissingLayers } from './sandbox-layers.ts'

/** `onReady` is called whenever the library has come up. */
export function createEngine(
  { config, log }: Pick<Platform, 'config' | 'log'>,
  pythonPath: string,
  onReady: () => void,
): Engine {
  let isSandboxLogged = false
  return new PythonEngine({
    pythonPath,
    taskPlaces: config.TASKS_PATH?.split(delimiter) ?? [],
    workersPerPool: config.PYTHON_WORKERS,
    scoreDeadlineMs: config.SCORE_DEADLINE_MS,
    makeDeadlineMs: config.MAKE_DEADLINE_MS,
    onHealth(health) {
      log[health.ok ? 'info' : 'error'](health, health.ok ? 'the engine is up' : 'the engine is down')
      if (health.ok) onReady()
    },
    onSandboxLayers(kind, layers) {
      const isMissing = hasMissingLayers(layers)
      if (isSandboxLogged && !isMissing) return // one line for each process is enough
      isSandboxLogged = true
      log[isMissing ? 'warn' : 'info'](
        { kind, layers: formatSandboxLayers(layers) },
        'sandbox layers of a Python worker',
      )
    },
  })
}
