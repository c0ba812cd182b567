/** What makes items and scores answers. One interface; test/engine/contract.ts is what every engine must pass. */
import type { Entry } from '../scorers/scorer.ts'
import type { Config } from '../words/recipe.ts'
import type { Layers } from './layers.ts'
import type { Outcome } from './outcome.ts'

/** What the library says of one task. */
export interface TaskFacts {
  category: string
  /** JSON Schema of its config, with defaults, bounds and enumerations. */
  config_schema: { type: 'object'; properties: Record<string, { default?: unknown }> }
}

/** An item as the library makes it; the entry never leaves the server. */
export interface Made {
  question: string
  entry: Entry
}

export interface Health {
  ok: boolean
  detail?: string
}

/** How an item is placed: `dataset(seed)[index]`. */
export type Place = [seed: number, index: number]

/** Killed at its deadline; ended by itself; gone with the engine. */
export type EndCause = 'timeout' | 'crashed' | 'engine_ended'

export interface Engine {
  readonly version: string
  /** All tasks by name. Throws `engine_unavailable` while the library cannot be asked. */
  tasks(): Promise<Record<string, TaskFacts>>
  /** The fields of a config that differ from the defaults, sorted. Throws `invalid_config` and `unknown_task`. */
  canonical(task: string, config: Config): Promise<Config>
  /** The items of one config, in order; each is made or has its own fault. `config` is canonical. */
  items(task: string, config: Config, places: Place[]): Promise<Outcome[]>
  /** The library's score of each answer to one item: a finite number, or why there is none. */
  score(task: string, config: Config, seed: number, entry: Entry, answers: string[]): Promise<Outcome[]>
  /** Settles once the engine is up, or has failed to come up for the first time. */
  started(): Promise<void>
  health(): Health
  /** What stands between a host and the machine; empty where nothing is known yet. */
  layers(): Layers
  /** Throws `engine_unavailable` unless the engine is up. */
  assertReady(): void
  /** Hosts alive, hosts killed so far, and hosts that ended in the middle of work by what ended them; by kind. */
  hosts(): Record<'items' | 'score', { alive: number; kills: number; ends: Record<EndCause, number> }>
  close(): Promise<void>
}

/** The library's default of every config field of a task. */
export function defaultsOf(facts: TaskFacts | undefined): Config {
  const properties = Object.entries(facts?.config_schema.properties ?? {})
  return Object.fromEntries(properties.map(([name, schema]) => [name, schema.default]))
}
