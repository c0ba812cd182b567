/** What the tools need of the engine, which makes items and scores answers. The engine of the server has it. */
import type { Config } from '@reasoning-gym-server/contract/recipe'
import type { DatasetEntry } from '@reasoning-gym-server/scorers/scorer'

/** How an item is placed: `dataset(seed)[index]`. */
export type DatasetPosition = [seed: number, index: number]

/** An item as the library makes it; the entry never leaves the server. */
export interface GeneratedItem {
  question: string
  entry: DatasetEntry
}

export type EngineOutcome =
  | { kind: 'value'; value: unknown }
  | { kind: 'error' | 'raised'; detail: string }
  | { kind: 'lost'; reason: string; detail: string }

export interface Engine {
  canonicalizeConfig(task: string, config: Config): Promise<Config>
  generateItems(task: string, config: Config, places: DatasetPosition[]): Promise<EngineOutcome[]>
  score(task: string, config: Config, seed: number, entry: DatasetEntry, answers: string[]): Promise<EngineOutcome[]>
  explain(task: string, question: string, answers: string[]): Promise<EngineOutcome[]>
}

/** What the engine says of a custom task. */
export interface TaskDefinition {
  /** null if the class has no docstring. */
  description?: string | null
  custom?: CustomTask
}

export interface CustomTask {
  /** Of all files of the module. Items of other code are rejected. */
  code_hash: string
  /** A file that scores answers in TypeScript or JavaScript instead of the dataset class. */
  scorer: string | null
  /** Its dataset class has `explain_answer`. */
  explains: boolean
  /** Configs of the levels of its curriculum, from easiest to hardest, not verified. */
  ladder: Config[]
  no_ladder_reason: string | null
}

/** An item with its two rules, which score many answers at once. */
export interface ScoredItem extends GeneratedItem {
  /** The library's answer, or the right one where it is wrong; null where neither is known. */
  rightKey: string | null
  /** The hardened scores. */
  score(answers: readonly string[]): Promise<number[]>
  /** The library's scores, below 0 as 0. */
  scoreUpstream(answers: readonly string[]): Promise<number[]>
}

/** Makes the items that can be made in time; the config is canonical. */
export type MakeScoredItems = (task: string, config: Config, places: DatasetPosition[]) => Promise<ScoredItem[]>
