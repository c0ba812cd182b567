/** Looks for ploys that earn something under the hardened rule: all of them on a few items, the best on all. */
import type { Engine, Place } from '../../src/engine/engine.ts'
import { NATIVE_TASKS } from '../../src/scorers/catalogue.ts'
import { type HardenedItem, hardenedItems } from './hardened-item.ts'
import { commonest, type Ploy, ploysOf } from './ploys.ts'

/** How many items the ploys are screened on, and how many of them are kept for all items. */
const NATIVE = { screenedOn: 30, kept: 25 }
/** A host takes a thousand times as long as a rule in this process. */
const BY_HOSTS = { screenedOn: 5, kept: 8 }

export interface Find {
  task: string
  ploy: string
  mean: number
  /** The share of items for which it scored 1. */
  right: number
  /** How often the commonest right answer is right. */
  base: number
}

/** The ploys of one task that earn most on average over `count` items, best first. */
export async function searchTask(engine: Engine, task: string, count: number, seed: number): Promise<Find[]> {
  const items = await hardenedItems(engine, task, {}, placesOf(task, seed, count))
  const others = await hardenedItems(engine, task, {}, placesOf(task, seed + 10_000_000, count))
  const ploys = ploysOf(
    task,
    others.map(({ question, entry }) => ({ question, answer: entry.answer })),
    120,
    seed,
  )
  const { screenedOn, kept: keep } = NATIVE_TASKS.has(task) ? NATIVE : BY_HOSTS
  const screened = await meansOf(ploys, items.slice(0, screenedOn))
  const best = ploys.map((ploy, k) => ({ ploy, mean: screened[k]?.mean ?? 0 })).toSorted((a, b) => b.mean - a.mean)
  const kept = best.slice(0, keep).map(({ ploy }) => ploy)
  const means = await meansOf(kept, items)
  const base = baseRate(items)
  return kept
    .map((ploy, k) => ({ task, ploy: ploy.name, mean: 0, right: 0, ...means[k], base }))
    .toSorted((a, b) => b.mean - a.mean)
}

/** Tasks that make a list when they are built know only its indexes; the others take any seed. */
function placesOf(task: string, seed: number, count: number): Place[] {
  const listed = ['acre', 'gsm_symbolic', 'list_functions', 'word_ladder'].includes(task)
  return Array.from({ length: count }, (_, k) => (listed ? [seed, k] : [seed + k, 0]))
}

async function meansOf(ploys: readonly Ploy[], items: readonly HardenedItem[]) {
  const sums = ploys.map(() => ({ mean: 0, right: 0 }))
  for (const item of items) {
    const scores = await item.score(ploys.map((ploy) => ploy.answer(item.question)))
    scores.forEach((score, k) => {
      const sum = sums[k]
      if (sum === undefined) return
      sum.mean += score / items.length
      if (score === 1) sum.right += 1 / items.length
    })
  }
  return sums
}

function baseRate(items: readonly HardenedItem[]): number {
  const oracles = items.flatMap(({ entry }) => (entry.answer === null ? [] : [entry.answer.trim().toLowerCase()]))
  const [most] = commonest(oracles, 1)
  return oracles.filter((oracle) => oracle === most).length / Math.max(1, items.length)
}
