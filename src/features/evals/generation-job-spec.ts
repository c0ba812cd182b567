/** What an eval is, as it is stored: everything that its workers go by, and that a repetition needs. But never the key. */
import type { GradingRules } from '../../grading/grader.ts'
import type { PromptSettings } from '../items/prompt.ts'
import type { EgressPolicy } from './model-client/egress-policy.ts'
import type { GenerationParams } from './model-client/model-client.ts'

/** A model that the server calls. */
export interface ModelSpec {
  name: string
  base_url: string
  reach: EgressPolicy
  asking: GenerationParams
  concurrency: number
}

export interface EvalSpec {
  kind: 'eval'
  /** null: the caller brings the completions. */
  model: ModelSpec | null
  suite: { name: string; version: number | null; sha256: string | null; items: number }
  samples_per_item: number
  temperature: number | null
  rules: GradingRules
  prompt: PromptSettings
  run: string | null
  step: number | null
  labels: string[] | Record<string, string>
  engine: string
  server: string
}

export interface CollectionSpec {
  kind: 'collection'
  model: ModelSpec
  run: string
  groups: number
  group_size: number
  buffer: boolean
}

export type GenerationJobSpec = EvalSpec | CollectionSpec

/** Samples come item by item: sample 7 of 4 an item is the fourth of item 1. */
export function itemIndexOfSample({ samples_per_item }: EvalSpec, sample: number): number {
  return Math.floor(sample / samples_per_item)
}
