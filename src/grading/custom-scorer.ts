/**
 * Scorers of tasks from TASKS_PATH that are written in TypeScript or JavaScript. The file exports by default an object with a
 * function for each task: `(answer, entry, config) => number`. It runs on a scorer thread, because a function of the
 * operator may take long for an answer that was made for that.
 */
import { pathToFileURL } from 'node:url'
import { parseHexInteger } from '@reasoning-gym-server/scorers/numbers'
import { parseFloat64 } from '@reasoning-gym-server/scorers/python/numbers'
import type { DatasetEntry, ResolvedConfig } from '@reasoning-gym-server/scorers/scorer'
import type { ScorerResult } from './verdict.ts'

/** Everything that a thread needs to score an answer, in plain JSON. */
export interface CustomScorerSpec {
  task: string
  file: string
  /** Other code is another module. */
  codeHash: string
  entry: DatasetEntry
  config: ResolvedConfig
}

type CustomScorer = (
  answer: string,
  entry: { answer: string | null; metadata: unknown },
  config: ResolvedConfig,
) => unknown

/** What the function throws is the fault of the answer, as in Python. */
export async function scoreWithFile(spec: CustomScorerSpec, answer: string): Promise<ScorerResult> {
  const { task, file, entry, config } = spec
  let score: unknown
  try {
    const scorer = await importScorer(spec)
    try {
      score = scorer(answer, { answer: entry.answer, metadata: toPlainValue(entry.metadata) }, config)
    } catch {
      return { kind: 'raised' }
    }
    if (typeof score !== 'number') throw new Error(`the scorer of ${task} in ${file} returned no number`)
  } catch (error) {
    return { kind: 'failed', code: 'scorer_crashed', detail: error instanceof Error ? error.message : String(error) }
  }
  return { kind: 'score', score: Number.isFinite(score) ? score : 0 }
}

async function importScorer({ task, file, codeHash }: CustomScorerSpec): Promise<CustomScorer> {
  const module = (await import(`${pathToFileURL(file).href}?${codeHash}`)) as { default?: Record<string, unknown> }
  const scorer = module.default?.[task]
  if (typeof scorer !== 'function') throw new Error(`${file} must export by default an object with a function ${task}`)
  return scorer as CustomScorer
}

/**
 * Values of `src/engine/python/typed_json.py` as JavaScript has them: whole floats are numbers, tuples and sets are arrays,
 * integers of more than 53 bits are BigInts, dicts whose keys are no texts are Maps, and the rest is text.
 */
export function toPlainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlainValue)
  if (typeof value !== 'object' || value === null) return value
  const [[type, inner] = ['', undefined], ...more] = Object.entries(value)
  if (more.length > 0 || !type.startsWith('$'))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toPlainValue(one)]))
  switch (type) {
    case '$float':
      return parseFloat64(String(inner))
    case '$int':
      return parseHexInteger(String(inner))
    case '$dict':
      return new Map((inner as [unknown, unknown][]).map(([key, one]) => [toPlainValue(key), toPlainValue(one)]))
    case '$tuple':
    case '$set':
      return toPlainValue(inner)
    case '$fraction':
      return (inner as string[]).map((hex) => parseHexInteger(hex).toString()).join('/')
    default:
      return String(inner)
  }
}
