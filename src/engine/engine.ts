/** What makes items and scores answers. One interface; test/engine/contract.ts is what every engine must pass. */

import type { Config } from '@reasoning-gym-server/contract/recipe'
import type { DatasetEntry } from '@reasoning-gym-server/scorers/scorer'
import type { EngineOutcome } from './outcome.ts'
import type { SandboxLayers } from './sandbox-layers.ts'

/** What the library says of one task. */
export interface TaskDefinition {
  category: string
  /** Of a task of the operator; null if its class has no docstring. */
  description?: string | null
  /** Only for a task of the operator. */
  own?: OwnTaskDefinition
  /** JSON Schema of its config, with defaults, bounds and enumerations. */
  config_schema: { type: 'object'; properties: Record<string, { default?: unknown }> }
}

export interface OwnTaskDefinition {
  /** The module, or the folder of the package. */
  file: string
  /** Of all files of the module. Items of other code are rejected. */
  code_hash: string
  /** A file that scores answers in TypeScript or JavaScript instead of the dataset class. */
  scorer: string | null
  /** Configs of the levels of its curriculum, from easiest to hardest, not verified. */
  ladder: Config[]
  no_ladder_reason: string | null
}

/** Why a file of TASKS_PATH gives no task. */
export interface TaskProblem {
  file: string
  detail: string
}

/** An item as the library makes it; the entry never leaves the server. */
export interface GeneratedItem {
  question: string
  entry: DatasetEntry
}

export interface EngineHealth {
  ok: boolean
  detail?: string
}

/** How an item is placed: `dataset(seed)[index]`. */
export type DatasetPosition = [seed: number, index: number]

/** Killed at its deadline; ended by itself; gone with the engine. */
export type PythonWorkerExitCause = 'timeout' | 'crashed' | 'engine_exited'

export interface Engine {
  readonly version: string
  /** All tasks by name; another object once tasks have been read again. Throws `engine_unavailable` while the library cannot be asked. */
  tasks(): Promise<Record<string, TaskDefinition>>
  /** Files of TASKS_PATH without a task, once `tasks` has settled. */
  readonly taskProblems: readonly TaskProblem[]
  /** The version in the items of a task: for a task of the operator, it ends with the hash of the task's code. */
  versionOf(task: string): string
  /** The fields of a config that differ from the defaults, sorted. Throws `invalid_config` and `unknown_task`. */
  canonicalizeConfig(task: string, config: Config): Promise<Config>
  /**
   * The items of one config, in order; each is made or has its own fault. `config` is canonical. If the code of the task
   * is not that of `version`, every item has the fault `engine_version_mismatch`.
   */
  generateItems(task: string, config: Config, places: DatasetPosition[], version?: string): Promise<EngineOutcome[]>
  /** The library's score of each answer to one item: a finite number, or why there is none. `version` as above. */
  score(
    task: string,
    config: Config,
    seed: number,
    entry: DatasetEntry,
    answers: string[],
    version?: string,
  ): Promise<EngineOutcome[]>
  /** Reads the files of TASKS_PATH again. What is being made or scored ends with `engine_unavailable`. */
  reloadTasks(): void
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
