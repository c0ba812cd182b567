/** Makes the items of a card, in bounded time, and measures the processor time that each took. */
import type { Config } from '../../src/contract/recipe.ts'
import type { DatasetPosition, Engine } from '../../src/engine/engine.ts'
import { isAnswerable } from '../../src/scorers/hardened/answerable.ts'
import { type HardenedItem, makeHardenedItems } from '../../verification/reward-hacks/hardened-item.ts'
import { readChildProcessorMs } from './processor-time.ts'

const ITEMS = 1000
const ITEMS_PER_CALL = 40
/** Past this processor time a slow task makes no more items than its card needs. */
const MAKE_BUDGET_MS = 1500
const MIN_ITEMS = 80
/** Past this processor time it makes no more at all. */
const MAKE_LIMIT_MS = 30_000
const FIRST_SEED = 500_000_000
/** Tasks that make a list when they are built know only its indexes; the others take any seed. */
const INDEXED_TASKS: ReadonlySet<string> = new Set(['acre', 'gsm_symbolic', 'list_functions', 'word_ladder'])

export async function makeItems(engine: Engine, task: string, config: Config) {
  const items: HardenedItem[] = []
  let usedMs = 0
  for (let k = 0; k < ITEMS; k += ITEMS_PER_CALL) {
    if (usedMs > MAKE_LIMIT_MS || (usedMs > MAKE_BUDGET_MS && items.length >= MIN_ITEMS)) break
    const before = readChildProcessorMs()
    const positions = Array.from(
      { length: ITEMS_PER_CALL },
      (_, i): DatasetPosition => (INDEXED_TASKS.has(task) ? [FIRST_SEED, k + i] : [FIRST_SEED + k + i, 0]),
    )
    const made = await makeHardenedItems(engine, task, config, positions)
    items.push(...made.filter(({ entry }) => isAnswerable(task, entry))) // as in the sequence of a run with hardened scoring
    usedMs += readChildProcessorMs() - before
  }
  if (items.length === 0) throw new Error(`${task}: no item could be made at ${JSON.stringify(config)}`)
  return { items, makeMs: usedMs / items.length }
}
