/** The engine of a process, which logs its health and its sandbox, and reads custom tasks again when their files change. */

import { existsSync, statSync, watch } from 'node:fs'
import { basename, delimiter, dirname } from 'node:path'
import type { ServerConfig } from '../platform/environment.ts'
import { getLibrarySocket } from '../platform/installation.ts'
import type { Platform } from '../platform/platform.ts'
import { type Engine, formatSandboxLayers, hasMissingLayers } from './engine.ts'
import { PythonEngine, type PythonEngineOptions } from './python-engine.ts'

export function listTaskPlaces({ TASKS_PATH }: Pick<ServerConfig, 'TASKS_PATH'>): string[] {
  return TASKS_PATH?.split(delimiter) ?? []
}

export function createEngineOptions(
  config: Pick<ServerConfig, 'TASKS_PATH' | 'PYTHON_WORKERS' | 'SCORE_DEADLINE_MS' | 'MAKE_DEADLINE_MS'>,
  pythonPath: string,
): PythonEngineOptions {
  return {
    pythonPath,
    librarySocket: getLibrarySocket(),
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

/** An editor writes several files, and each several times. */
const QUIET_MS = 300
/** As custom_tasks.py: what is no part of a task's code. */
const IGNORED = /(^|\/)(\.|__pycache__|test_|conftest)|\.(pyc|md)$|~$/

/**
 * For development: calls `onChange` once files below these places of TASKS_PATH have changed. A path that does not exist, such as the
 * name of a module, is not watched.
 */
export function watchTasks(places: readonly string[], onChange: () => void): { close(): void } {
  let timer: NodeJS.Timeout | undefined
  const watchers = places.filter(existsSync).map((place) => {
    const isFolder = statSync(place).isDirectory()
    // Editors replace a file, so its folder is watched.
    return watch(isFolder ? place : dirname(place), { recursive: isFolder }, (_event, file) => {
      if (file === null || IGNORED.test(file) || (!isFolder && file !== basename(place))) return
      clearTimeout(timer)
      timer = setTimeout(onChange, QUIET_MS)
    })
  })
  return {
    close() {
      clearTimeout(timer)
      for (const watcher of watchers) watcher.close()
    },
  }
}
