/** What an eval is, as it is stored: everything that its workers go by, and that a repetition needs. But never the key. */
import type { ReadingRules } from '../items/judge.ts'
import type { Prompt } from '../items/messages.ts'
import type { Asking } from '../models/model.ts'
import type { Reach } from '../models/reach.ts'

/** A model that the server calls. */
export interface CalledModel {
  name: string
  base_url: string
  reach: Reach
  asking: Asking
  concurrency: number
}

export interface EvalSpec {
  kind: 'eval'
  /** null: the caller brings the completions. */
  model: CalledModel | null
  suite: { name: string; version: number | null; sha256: string | null; items: number }
  samples_per_item: number
  temperature: number | null
  rules: ReadingRules
  prompt: Prompt
  run: string | null
  step: number | null
  labels: string[] | Record<string, string>
  engine: string
  server: string
}

export interface CollectionSpec {
  kind: 'collection'
  model: CalledModel
  run: string
  groups: number
  group_size: number
  buffer: boolean
}

export type Spec = EvalSpec | CollectionSpec

/** Samples come item by item: sample 7 of 4 an item is the fourth of item 1. */
export function itemOfSample({ samples_per_item }: EvalSpec, sample: number): number {
  return Math.floor(sample / samples_per_item)
}
