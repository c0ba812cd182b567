/** Chooses the items of a suite: the first that can be made and ask a question that did not come before. */
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { PythonEngine } from '../../src/engine/python-engine.ts'
import { makeStableLines, type SuiteLine } from './make.ts'
import type { SuitePart } from './plans.ts'

/** Indices that are tried for the items of a part, beyond their number. */
const SPARE_INDICES = 200

/** The items of a part; fewer than it wants if no more can be made. `seen`: hashes of the questions that came. */
export async function makePart(engines: PythonEngine[], part: SuitePart, seen: Set<string>): Promise<SuiteLine[]> {
  const [engine] = engines
  if (!engine) return []
  const config = Object.keys(part.config).length === 0 ? {} : await engine.canonicalizeConfig(part.task, part.config)
  const { task, difficulty, seed } = part
  const recipe = { task, difficulty, config, seed, index: 0, engine: engine.version }
  return takeNext(engines, recipe, part.count, seen)
}

/** The suite with another item of the same config and seed for each whose question came before. */
export async function replaceDoubles(engines: PythonEngine[], lines: SuiteLine[]): Promise<SuiteLine[]> {
  const seen = new Set<string>()
  const isDouble = lines.map(({ hash }) => seen.size === seen.add(hash).size)
  const result: SuiteLine[] = []
  const families = Map.groupBy(lines.keys(), (k) => familyOf(lines[k]?.id ?? ''))
  for (const places of families.values()) {
    const family = places.map((k) => lines[k] as SuiteLine) // k is an index of lines
    const kept = family.filter((_, n) => !isDouble[places[n] ?? 0])
    const last = decodeItemId(family.at(-1)?.id ?? '')
    const count = family.length - kept.length
    const others = await takeNext(engines, { ...last, index: last.index + 1 }, count, seen)
    if (others.length < count) console.log(`${last.task}: ${count - others.length} items fewer`)
    result.push(...kept, ...others)
  }
  return result
}

/** Items from the recipe's index on. */
async function takeNext(
  engines: PythonEngine[],
  recipe: Recipe,
  count: number,
  seen: Set<string>,
): Promise<SuiteLine[]> {
  const lines: SuiteLine[] = []
  const end = recipe.index + count + SPARE_INDICES
  for (let index = recipe.index; lines.length < count && index < end; ) {
    const size = Math.min(count - lines.length, end - index)
    const recipes = Array.from({ length: size }, (_, k) => ({ ...recipe, index: index + k }))
    index += size
    for (const line of await makeStableLines(engines, recipes)) {
      if (seen.has(line.hash)) continue
      seen.add(line.hash)
      lines.push(line)
    }
  }
  return lines
}

/** What the items of a part have in common. */
function familyOf(id: string): string {
  const { index: _, ...rest } = decodeItemId(id)
  return JSON.stringify(rest)
}
