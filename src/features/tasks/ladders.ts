/** Ladders: for each task the configs from easiest to hardest, as they stand in ladders.json. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Config } from '../../contract/recipe.ts'

/** Columns: a field's constant is wrapped in `const`, a list has one value for each rung. */
const Ladder = z.strictObject({
  rungs: z.int().min(1),
  fields: z.record(z.string(), z.union([z.strictObject({ const: z.unknown() }), z.array(z.unknown()), z.unknown()])),
  why: z.string().optional(),
})
type Ladder = z.infer<typeof Ladder>

export interface Rung {
  difficulty: number
  config: Config
}

export class Ladders {
  readonly #rungs = new Map<string, Rung[]>()

  constructor(file = join(import.meta.dirname, 'ladders.json')) {
    const ladders = z.record(z.string(), Ladder).parse(JSON.parse(readFileSync(file, 'utf8')))
    for (const [task, ladder] of Object.entries(ladders)) this.#rungs.set(task, expandRungs(ladder))
  }

  /** A task without a ladder has one rung: the library's defaults. */
  rungs(task: string): Rung[] {
    return this.#rungs.get(task) ?? [{ difficulty: 0, config: {} }]
  }

  /** The config of the rung that a difficulty in [0, 1] means. */
  configAt(task: string, difficulty: number): Config {
    const rungs = this.rungs(task)
    return rungs[Math.floor(difficulty * (rungs.length - 1) + 0.5)]?.config ?? {}
  }
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
