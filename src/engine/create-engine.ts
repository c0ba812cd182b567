/** The engine of a process, which logs its health and its sandbox. */
import { delimiter } from 'node:path'
import type { Platform, PlatformConfig } from '../platform/platform.ts'
import type { Engine } from './engine.ts'
import { PythonEngine, type PythonEngineOptions } from './python-engine.ts'
import { formatSandboxLayers, hasMissingLayers } from './sandbox-layers.ts'

export function listTaskPlaces({ TASKS_PATH }: Pick<PlatformConfig, 'TASKS_PATH'>): string[] {
  return TASKS_PATH?.split(delimiter) ?? []
}

export function createEngineOptions(
  config: Pick<PlatformConfig, 'TASKS_PATH' | 'PYTHON_WORKERS' | 'SCORE_DEADLINE_MS' | 'MAKE_DEADLINE_MS'>,
  pythonPath: string,
): PythonEngineOptions {
  return {
    pythonPath,
    taskPlaces: listTaskPlaces(config),
    workersPerPool: config.PYTHON_WORKERS,
    scoreDeadlineMs: config.SCORE_DEADLINE_MS,
    makeDeadlineMs: config.MAKE_DEADLINE_MS,
  }
}

/** `onReady` is called whenever the library has come up. */
export function createEngine(
  { config, log }: Pick<Platform, 'config' | 'log'>,
  pythonPath: string,
  onReady: () => void,
): Engine {
  let isSandboxLogged = false
  return new PythonEngine({
    ...createEngineOptions(config, pythonPath),
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
