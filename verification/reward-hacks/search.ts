/** Looks for ploys that earn something under the hardened rule: all of them on a few items, the best on all. */

import { NATIVE_TASKS } from '@reasoning-gym-server/scorers/native-scorers'
import type { DatasetPosition, Engine } from '../../src/engine/engine.ts'
import { type HardenedItem, makeHardenedItems } from '../../src/grading/hardened-item.ts'
import { buildStrategies, getMostCommon, type Strategy } from './strategies.ts'

/** How many items the ploys are screened on, and how many of them are kept for all items. */
const NATIVE_SCREENING = { screenedOn: 30, kept: 25 }
/** A host takes a thousand times as long as a rule in this process. */
const PYTHON_WORKER_SCREENING = { screenedOn: 5, kept: 8 }

export interface RewardHack {
  task: string
  ploy: string
  mean: number
  /** The share of items for which it scored 1. */
  right: number
  /** How often the commonest right answer is right. */
  base: number
}

/** The ploys of one task that earn most on average over `count` items, best first. */
export async function findRewardHacks(
  engine: Engine,
  task: string,
  count: number,
  seed: number,
): Promise<RewardHack[]> {
  const items = await makeHardenedItems(engine, task, {}, listPositions(task, seed, count))
  const others = await makeHardenedItems(engine, task, {}, listPositions(task, seed + 10_000_000, count))
  const ploys = buildStrategies(
    task,
    others.map(({ question, entry }) => ({ question, answer: entry.answer })),
    120,
    seed,
  )
  const { screenedOn, kept: keep } = NATIVE_TASKS.has(task) ? NATIVE_SCREENING : PYTHON_WORKER_SCREENING
  const screened = await computeMeans(ploys, items.slice(0, screenedOn))
  const best = ploys.map((ploy, k) => ({ ploy, mean: screened[k]?.mean ?? 0 })).toSorted((a, b) => b.mean - a.mean)
  const kept = best.slice(0, keep).map(({ ploy }) => ploy)
  const means = await computeMeans(kept, items)
  const base = computeBaseRate(items)
  return kept
    .map((ploy, k) => ({ task, ploy: ploy.name, mean: 0, right: 0, ...means[k], base }))
    .toSorted((a, b) => b.mean - a.mean)
}

/** Tasks that make a list when they are built know only its indexes; the others take any seed. */
export function listPositions(task: string, seed: number, count: number): DatasetPosition[] {
  const listed = ['acre', 'gsm_symbolic', 'list_functions', 'word_ladder'].includes(task)
  return Array.from({ length: count }, (_, k) => (listed ? [seed, k] : [seed + k, 0]))
}

async function computeMeans(ploys: readonly Strategy[], items: readonly HardenedItem[]) {
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

function computeBaseRate(items: readonly HardenedItem[]): number {
  const oracles = items.flatMap(({ rightKey }) => (rightKey === null ? [] : [rightKey.trim().toLowerCase()]))
  const [most] = getMostCommon(oracles, 1)
  return oracles.filter((oracle) => oracle === most).length / Math.max(1, items.length)
}
