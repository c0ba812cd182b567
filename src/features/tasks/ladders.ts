/**
 * Ladders: for each task, the configs in ladders.json from easiest to hardest; a custom task brings its own, which is
 * verified. Only this file maps a difficulty to a rung.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Config, Recipe } from '@reasoning-gym-server/contract/recipe'
import { z } from 'zod'
import type { CustomTaskDefinition, Engine, EngineOutcome, GeneratedItem } from '../../engine/engine.ts'

/** Columns of a ladder. A constant field is wrapped in `const`; a list has one value per rung. */
const Ladder = z.strictObject({
  rungs: z.int().min(1),
  fields: z.record(z.string(), z.union([z.strictObject({ const: z.unknown() }), z.array(z.unknown()), z.unknown()])),
  why: z.string().optional().describe('Why it has one rung'),
  guessable: z
    .string()
    .optional()
    .describe('Why each rung can be guessed that far, and no config of the library helps'),
})
type Ladder = z.infer<typeof Ladder>

interface Rung {
  difficulty: number
  config: Config
}

/** The library's defaults, which are the only rung of a task without a ladder. */
const DEFAULT_RUNG: Rung = { difficulty: 0, config: {} }

const LADDERS_FILE = join(import.meta.dirname, 'ladders.json')

interface ExpandedLadder extends Pick<Ladder, 'why' | 'guessable'> {
  rungs: Rung[]
}

let ownLadders: Map<string, ExpandedLadder> | undefined

/** Read once in a process: it takes 8 ms. */
function readOwnLadders(): Map<string, ExpandedLadder> {
  ownLadders ??= readLadders(LADDERS_FILE)
  return ownLadders
}

function readLadders(file: string): Map<string, ExpandedLadder> {
  const ladders = z.record(z.string(), Ladder).parse(JSON.parse(readFileSync(file, 'utf8')))
  return new Map(Object.entries(ladders).map(([task, ladder]) => [task, { ...ladder, rungs: expandRungs(ladder) }]))
}

export class Ladders {
  readonly #rungs = new Map<string, Rung[]>()
  readonly #guessable = new Map<string, string>()
  readonly #reasons = new Map<string, string>()

  constructor(file = LADDERS_FILE) {
    for (const [task, { rungs, ...ladder }] of file === LADDERS_FILE ? readOwnLadders() : readLadders(file)) {
      this.#rungs.set(task, rungs)
      if (ladder.why) this.#reasons.set(task, ladder.why)
      if (ladder.guessable) this.#guessable.set(task, ladder.guessable)
    }
  }

  /** Sets the ladder of a custom task, from easiest to hardest. */
  set(task: string, configs: Config[]): void {
    const rungs = configs.map((config, k) => ({ difficulty: k / Math.max(1, configs.length - 1), config }))
    this.#rungs.set(task, rungs)
  }

  setReason(task: string, reason: string): void {
    this.#rungs.delete(task)
    this.#reasons.set(task, reason)
  }

  /** Returns why the difficulty of a task cannot be adjusted, or null if it can. */
  whyNotAdjustable(task: string): string | null {
    return this.rungs(task).length > 1 ? null : (this.#reasons.get(task) ?? 'it has no ladder')
  }

  rungs(task: string): Rung[] {
    return this.#rungs.get(task) ?? [DEFAULT_RUNG]
  }

  /** Returns why a guess earns a quarter or more on every rung, or undefined if it does not. */
  guessable(task: string): string | undefined {
    return this.#guessable.get(task)
  }

  /** Returns the config of the rung that a difficulty in [0, 1] selects. */
  configAt(task: string, difficulty: number): Config {
    return this.rungs(task)[this.indexAt(task, difficulty)]?.config ?? {}
  }

  /**
   * Whether an item was made at the rung that its difficulty selects today, and not before the ladder changed. Its
   * config lacks the fields that are at the library's defaults.
   */
  isCurrent({ task, difficulty, config }: Pick<Recipe, 'task' | 'difficulty' | 'config'>): boolean {
    const rung = difficulty === null ? {} : this.configAt(task, difficulty)
    return Object.entries(config).every(([field, value]) => isDeepStrictEqual(value, rung[field]))
  }

  /** Returns the rung, counted from 0, that a difficulty in [0, 1] selects. */
  indexAt(task: string, difficulty: number): number {
    return rungIndexAt(difficulty, this.rungs(task).length)
  }

  /** Returns the range of difficulties in [0, 1] that select the same rung as this one. */
  rangeAt(task: string, difficulty: number): { from: number; to: number } {
    const count = this.rungs(task).length
    const index = rungIndexAt(difficulty, count)
    return { from: rungStart(index, count), to: rungStart(index + 1, count) }
  }
}

/** A difficulty selects the nearest rung. Halfway between two rungs, it selects the harder one. */
function rungIndexAt(difficulty: number, count: number): number {
  let index = count - 1
  while (index > 0 && difficulty < rungStart(index, count)) index--
  return index
}

function rungStart(index: number, count: number): number {
  if (index === 0) return 0
  return index === count ? 2 : (index - 0.5) / (count - 1)
}

function expandRungs({ rungs, fields }: Ladder): Rung[] {
  return Array.from({ length: rungs }, (_, k) => ({
    difficulty: rungs === 1 ? 0 : k / (rungs - 1),
    config: Object.fromEntries(Object.entries(fields).map(([name, column]) => [name, getColumnValue(column, k)])),
  }))
}

function getColumnValue(column: unknown, k: number): unknown {
  if (Array.isArray(column)) return column[k]
  if (typeof column === 'object' && column !== null && 'const' in column) return column.const
  return column
}

/** Seeds of the items that are made at each rung. */
const SEEDS = [1, 2, 3]
/** For all levels of a task: a server that starts waits for it. */
const TIME_LIMIT_MS = 30_000

interface Deps {
  engine: Pick<Engine, 'generateItems' | 'score'>
  ladders: Ladders
}

/**
 * Gives a custom task its ladder, or the reason why it has none: each rung must make items in time that score 1.0 with
 * their own answers. What an overloaded machine could not make counts neither way. Throws `engine_unavailable`.
 */
export async function verifyCustomLadder(
  { engine, ladders }: Deps,
  task: string,
  custom: CustomTaskDefinition,
): Promise<void> {
  const configs = custom.ladder.filter((config, k) => JSON.stringify(config) !== JSON.stringify(custom.ladder[k - 1]))
  if (configs.length < 2)
    return ladders.setReason(task, custom.no_ladder_reason ?? 'its curriculum has fewer than two different levels')
  const startedAt = performance.now()
  for (const [level, config] of configs.entries()) {
    if (performance.now() - startedAt > TIME_LIMIT_MS)
      return ladders.setReason(
        task,
        `the items of its levels take more than ${TIME_LIMIT_MS / 1000} s to make and score`,
      )
    const items = await engine.generateItems(
      task,
      config,
      SEEDS.map((seed) => [seed, 0]),
    )
    for (const [k, outcome] of items.entries()) {
      if (isInconclusive(outcome)) continue
      const place = `level ${level} of its curriculum, seed ${SEEDS[k]}`
      if (outcome.kind !== 'value') return ladders.setReason(task, `${place}: ${describeOutcome(outcome)}`)
      const { entry } = outcome.value as GeneratedItem // as the engine checks
      const [score] = await engine.score(task, config, SEEDS[k] ?? 0, entry, [entry.answer ?? ''])
      if (score && isInconclusive(score)) continue
      if (score?.kind !== 'value' || score.value !== 1)
        return ladders.setReason(task, `${place}: its own answer ${describeScore(score)} instead of scoring 1.0`)
    }
  }
  ladders.set(task, configs)
}

/** Whether an outcome says nothing about the task. */
function isInconclusive(outcome: EngineOutcome): boolean {
  if (outcome.kind !== 'lost') return false
  if (outcome.reason === 'unavailable') throw new ServiceError('engine_unavailable', outcome.detail)
  return outcome.reason === 'starved'
}

function describeScore(outcome: EngineOutcome | undefined): string {
  if (outcome?.kind === 'value') return `scores ${String(outcome.value)}`
  return `${outcome?.kind === 'raised' ? 'raises' : 'is not scored:'} ${outcome?.detail ?? 'no result'}`
}

function describeOutcome(outcome: EngineOutcome): string {
  return outcome.kind === 'value' ? String(outcome.value) : outcome.detail
}
