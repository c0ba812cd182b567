/** Makes the items of a suite, the same on several engines: the first that can be made and ask a question that did not come before. */

import { createHash } from 'node:crypto'
import { decodeItemId, encodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import { findItemFlaw, type ItemFlaw } from '@reasoning-gym-server/scorers/corrections/corrections'
import { type GeneratedItem, getConfigDefaults } from '../../src/engine/engine.ts'
import type { PythonEngine } from '../../src/engine/python-engine.ts'
import type { SuitePart } from './plans.ts'

/** Indices that are tried for the items of a part, beyond their number. */
const SPARE_INDICES = 400

/** The items of a part; fewer than it wants if no more can be made. `seen`: hashes of the questions that came. */
export async function makePart(engines: PythonEngine[], part: SuitePart, seen: Set<string>): Promise<SuiteLine[]> {
  const [engine] = engines
  if (!engine) return []
  const config = Object.keys(part.config).length === 0 ? {} : await engine.canonicalizeConfig(part.task, part.config)
  const { task, difficulty, seed } = part
  const recipe = { task, difficulty, config, seed, index: 0, engine: engine.version }
  return takeNext(engines, recipe, part.count, seen)
}

/** The suite with another item of the same config and seed for each that has a flaw. */
export async function replaceFlawed(engines: PythonEngine[], lines: SuiteLine[]): Promise<SuiteLine[]> {
  const [engine] = engines
  if (!engine) return []
  const flaws = await findFlaws(engine, lines)
  const seen = new Set(lines.map(({ hash }) => hash))
  const families = Map.groupBy(lines.keys(), (k) => familyOf(lines[k]?.id ?? ''))
  const result: SuiteLine[] = []
  for (const places of families.values()) {
    const family = [...places].map((k) => lines[k] as SuiteLine) // k is an index of lines
    const kept = family.filter(({ id }) => !flaws.has(id))
    const last = decodeItemId(family.at(-1)?.id ?? '')
    const count = family.length - kept.length
    const others = await takeNext(engines, { ...last, index: last.index + 1 }, count, seen)
    // Where hardly any item has one reading, those with a note stay: `clarify` settles them.
    const noted = family.filter(({ id }) => flaws.get(id) === 'several_readings').slice(0, count - others.length)
    const missing = count - others.length - noted.length
    if (missing > 0) console.log(`${last.task} at ${last.difficulty}: ${missing} items fewer`)
    result.push(...kept, ...others, ...noted)
  }
  return result
}

/** The items of a suite that have a flaw, by ID. */
export async function findFlaws(engine: PythonEngine, lines: readonly SuiteLine[]): Promise<Map<string, ItemFlaw>> {
  const items = await makeItems(
    engine,
    lines.map(({ id }) => decodeItemId(id)),
  )
  return new Map(
    lines.flatMap(({ id }, k) => {
      const flaw = items[k]?.flaw
      return flaw === undefined ? [] : [[id, flaw] as const]
    }),
  )
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

/** A line of a suite's file. */
export interface SuiteLine {
  id: string
  /** SHA-256 of the question. */
  hash: string
}

/** The items that each engine makes, with the same question and without a flaw; the others give way. */
async function makeStableLines(engines: PythonEngine[], recipes: Recipe[]): Promise<SuiteLine[]> {
  const made = await Promise.all(engines.map((engine, k) => makeInOrder(engine, recipes, k % 2 === 1)))
  return recipes.flatMap((recipe, k) => {
    const [item, ...others] = made.map((items) => items[k])
    if (item === undefined || item.flaw !== undefined) return []
    if (others.some((other) => other?.question !== item.question)) return []
    return { id: encodeItemId(recipe), hash: createHash('sha256').update(item.question).digest('hex') }
  })
}

interface MadeItem {
  question: string
  flaw: ItemFlaw | undefined
}

/** The items of recipes, in order; undefined where one cannot be made. */
export async function makeItems(engine: PythonEngine, recipes: Recipe[]): Promise<(MadeItem | undefined)[]> {
  const items: (MadeItem | undefined)[] = []
  const tasks = await engine.tasks()
  const groups = Map.groupBy(recipes.keys(), (k) => `${recipes[k]?.task} ${JSON.stringify(recipes[k]?.config)}`)
  for (const places of groups.values()) {
    const at = [...places]
    const some = at.flatMap((k) => recipes[k] ?? [])
    const [one] = some
    if (!one) continue
    const config = { ...getConfigDefaults(tasks[one.task]), ...one.config }
    const outcomes = await engine.generateItems(
      one.task,
      one.config,
      some.map(({ seed, index }) => [seed, index]),
    )
    at.forEach((k, n) => {
      const outcome = outcomes[n]
      if (outcome?.kind !== 'value') return
      const { question, entry } = outcome.value as GeneratedItem // as worker.py makes items
      items[k] = { question, flaw: findItemFlaw(one.task, { entry, config }) }
    })
  }
  return items
}

/** Backwards, an item comes after others than before: one that depends on them differs. */
async function makeInOrder(
  engine: PythonEngine,
  recipes: Recipe[],
  backwards: boolean,
): Promise<(MadeItem | undefined)[]> {
  if (!backwards) return makeItems(engine, recipes)
  return (await makeItems(engine, recipes.toReversed())).reverse()
}
