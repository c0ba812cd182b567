/** What makes items and scores answers. One interface; test/engine/contract.ts is what every engine must pass. */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Config } from '@reasoning-gym-server/contract/recipe'
import type { DatasetEntry } from '@reasoning-gym-server/scorers/scorer'
import type { CustomTask, DatasetPosition } from '@reasoning-gym-server/task-tools/engine'

export type { DatasetPosition, GeneratedItem } from '@reasoning-gym-server/task-tools/engine'

/** What the library says of one task. */
export interface TaskDefinition {
  category: string
  /** Of a custom task; null if its class has no docstring. */
  description?: string | null
  /** Only for a custom task. */
  custom?: CustomTaskDefinition
  /** JSON Schema of its config, with defaults, bounds and enumerations. */
  config_schema: { type: 'object'; properties: Record<string, { default?: unknown }> }
}

export interface CustomTaskDefinition extends CustomTask {
  /** The module, or the folder of the package. */
  file: string
}

/** Why a file of TASKS_PATH gives no task. */
export interface TaskProblem {
  file: string
  detail: string
}

export interface EngineHealth {
  ok: boolean
  detail?: string
}

/** Killed at its deadline; ended by itself; gone with the engine. */
export type PythonWorkerExitCause = 'timeout' | 'crashed' | 'engine_exited'

/**
 * What an item is made for. The kinds share the Python workers fairly: an item by its recipe, of a run, to score an answer,
 * of a data set. `query` is about tasks and configs, `answers` are scored.
 */
export type WorkKind = 'query' | 'recipe' | 'run' | 'score' | 'dataset' | 'answers'

export interface Engine {
  readonly version: string
  /** All tasks by name; another object once tasks have been read again. Throws `engine_unavailable` while the library cannot be asked. */
  tasks(): Promise<Record<string, TaskDefinition>>
  /** Files of TASKS_PATH without a task, once `tasks` has settled. */
  readonly taskProblems: readonly TaskProblem[]
  /** The version in the items of a task: for a custom task, it ends with the hash of the task's code. */
  versionOf(task: string): string
  /** The fields of a config that differ from the defaults, sorted. Throws `invalid_config` and `unknown_task`. */
  canonicalizeConfig(task: string, config: Config): Promise<Config>
  /**
   * The items of one config, in order; each is made or has its own error. `config` is canonical. If the code of the task
   * is not that of `version`, every item has the error `engine_version_mismatch`.
   */
  generateItems(task: string, config: Config, places: DatasetPosition[], version?: string): Promise<EngineOutcome[]>
  /** The same, each as soon as it is made. */
  generateEach(
    task: string,
    config: Config,
    places: DatasetPosition[],
    version?: string,
    work?: WorkKind,
  ): Promise<EngineOutcome>[]
  /** The library's score of each answer to one item: a finite number, or why there is none. `version` as above. */
  score(
    task: string,
    config: Config,
    seed: number,
    entry: DatasetEntry,
    answers: string[],
    version?: string,
  ): Promise<EngineOutcome[]>
  /** Whether the program of an item of codeio gives the item's output on each of these inputs, which are JSON. */
  runProgram(
    task: string,
    config: Config,
    seed: number,
    entry: DatasetEntry,
    inputs: string[],
    version?: string,
  ): Promise<EngineOutcome[]>
  /** What a custom task with `explains` says about each answer: a text or null. It gets nothing of the item but the question. */
  explain(task: string, question: string, answers: string[], version?: string): Promise<EngineOutcome[]>
  /**
   * Reads the files of TASKS_PATH again, unless one no longer parses: then all tasks keep their code, and `taskProblems` names the file.
   * What is being made or scored ends with `engine_unavailable`.
   */
  reloadTasks(): Promise<void>
  /** Settles once the engine is up, or has failed to come up for the first time. */
  waitUntilStarted(): Promise<void>
  health(): EngineHealth
  /** What stands between a worker and the machine; empty where nothing is known yet. */
  sandboxLayers(): SandboxLayers
  /** Throws `engine_unavailable` unless the engine is up. */
  assertReady(): void
  /** Live workers, workers killed so far, and workers that exited during work, by cause; per kind. */
  pythonWorkers(): Record<
    'items' | 'score',
    { alive: number; kills: number; ends: Record<PythonWorkerExitCause, number> }
  >
  close(): Promise<void>
}

/** The library's default of every config field of a task. */
export function getConfigDefaults(facts: TaskDefinition | undefined): Config {
  const properties = Object.entries(facts?.config_schema.properties ?? {})
  return Object.fromEntries(properties.map(([name, schema]) => [name, schema.default]))
}

/** The outcome of one unit of work in a Python worker: an item to make or an answer to score. */
export type EngineOutcome =
  | { kind: 'value'; value: unknown }
  /** The same request would fail again: an error code, a sentence, and the field that it is about. */
  | { kind: 'error'; code: string; detail: string; path: string | null }
  /** The library's scorer raised on the answer. */
  | { kind: 'raised'; detail: string }
  /** No result came: this unit of work was the cause, or the engine is down. */
  | { kind: 'lost'; reason: EngineLossReason; detail: string }

/**
 * It used up its deadline; the machine was too busy for it to do so; it ended its worker; it took too much memory; the engine
 * is down.
 */
export type EngineLossReason = 'timeout' | 'starved' | 'crashed' | 'out_of_memory' | 'unavailable'

/** Parses a worker's message for one unit of work, as worker.py writes it. */
export function parseOutcome(message: Record<string, unknown>): EngineOutcome {
  if ('error' in message) {
    const { error, detail, path } = message
    return { kind: 'error', code: String(error), detail: String(detail), path: typeof path === 'string' ? path : null }
  }
  if ('raised' in message) return { kind: 'raised', detail: String(message.raised) }
  if ('out_of_memory' in message)
    return { kind: 'lost', reason: 'out_of_memory', detail: 'the worker reached its memory limit' }
  return { kind: 'value', value: message.value }
}

const ERROR_CODES = [
  'invalid_config',
  'unknown_task',
  'index_out_of_range',
  'make_failed',
  'engine_version_mismatch',
] as const

/**
 * The maker gave no result: it used up its deadline, or ended its worker. Unlike one that raises, it costs seconds, so that no
 * other seed is tried in its place.
 */
export class NoResultError extends ServiceError {
  constructor(detail: string) {
    super('make_failed', detail)
  }
}

/** The value of an outcome. Throws the error that the client gets. */
export function unwrapOutcome(outcome: EngineOutcome | undefined): unknown {
  switch (outcome?.kind) {
    case 'value':
      return outcome.value
    case 'error': {
      const code = ERROR_CODES.find((known) => known === outcome.code) ?? 'internal'
      const errors = outcome.path === null ? [] : [{ path: outcome.path, message: outcome.detail }]
      throw new ServiceError(code, outcome.detail, { errors })
    }
    case 'lost':
      throw toLossError(outcome)
    default:
      throw new ServiceError('internal', outcome?.detail ?? 'The engine returned no outcome.')
  }
}

function toLossError({ reason, detail }: Extract<EngineOutcome, { kind: 'lost' }>): ServiceError {
  switch (reason) {
    case 'unavailable':
      return new ServiceError('engine_unavailable', detail)
    case 'out_of_memory': {
      const advice = 'Choose an easier config.'
      return new ServiceError(
        'make_out_of_memory',
        `Making this item exceeds the memory limit of a Python worker. ${advice}`,
      )
    }
    case 'starved':
      return new ServiceError(
        'make_timeout',
        `The item could not be made in time: ${detail}. Use a smaller config, or retry.`,
      )
    case 'timeout':
    case 'crashed':
      return new NoResultError(`The item cannot be made: ${detail}`)
  }
}

/**
 * Workers that make items, those that make them for data sets, those that score, and those that score with sympy. Their layers and
 * priorities differ: a data set always has more work than there are workers, and sympy may take seconds for an answer, so what
 * anything else needs goes first.
 */
export type PythonWorkerKind = 'items' | 'dataset' | 'score' | 'sympy'

/** By name of the layer: null if it is active, otherwise the reason why not. */
export type SandboxLayers = Record<string, string | null>

/** The layers that Python workers report at their start. All workers of one kind report the same. */
export class SandboxLayerRegistry {
  readonly #byKind = new Map<PythonWorkerKind, SandboxLayers>()

  /** Returns whether the layers of this kind have changed. */
  record(kind: PythonWorkerKind, layers: SandboxLayers): boolean {
    const before = this.#byKind.get(kind)
    this.#byKind.set(kind, layers)
    return JSON.stringify(before) !== JSON.stringify(layers)
  }

  /** A layer is active if it is active for both kinds of workers. Empty until the first worker has started. */
  getCombined(): SandboxLayers {
    const all: SandboxLayers = {}
    for (const layers of this.#byKind.values()) {
      for (const [name, reason] of Object.entries(layers)) all[name] ??= reason
    }
    return all
  }
}

export function hasMissingLayers(layers: SandboxLayers): boolean {
  return Object.values(layers).some((reason) => reason !== null)
}

/** For display: `on`, or why the layer is not active. */
export function formatSandboxLayers(layers: SandboxLayers): Record<string, string> {
  return Object.fromEntries(Object.entries(layers).map(([name, reason]) => [name, reason ?? 'on']))
}
