/** Makes the items of a card, in bounded time, and measures the processor time that each took. */

import { readdirSync, readFileSync } from 'node:fs'
import type { Config } from '@reasoning-gym-server/contract/recipe'
import { isAnswerable } from '@reasoning-gym-server/scorers/corrections/corrections'
import type { DatasetPosition, Engine } from '../../src/engine/engine.ts'
import { type HardenedItem, makeHardenedItems } from '../../src/grading/hardened-item.ts'
import { doAnswersRepeat } from './learned-floor.ts'
import { countEqualPairs } from './questions.ts'

const ITEMS = 1000
/** So many are enough where (nearly) all questions and answers differ: the rest would only be counted. */
const ITEMS_IF_DISTINCT = 400
const MAX_EQUAL_PAIRS = 2
const FIRST_CALL_ITEMS = 20
const MAX_CALL_ITEMS = 200
/** A call takes about this much processor time. */
const CALL_MS = 400
/** Past this processor time a slow task makes no more items than its card needs. */
const MAKE_BUDGET_MS = 1500
/**
 * The same where questions repeat, since the estimate of how many differ is low where some are more likely; and where answers
 * repeat, since a model can be fitted to them.
 */
const COUNT_BUDGET_MS = 10_000
const MIN_ITEMS = 160
/** Past this processor time it makes no more at all. */
const MAKE_LIMIT_MS = 30_000
const FIRST_SEED = 500_000_000
/** Tasks that make a list when they are built know only its indexes; the others take any seed. */
const INDEXED_TASKS: ReadonlySet<string> = new Set(['acre', 'gsm_symbolic', 'list_functions', 'word_ladder'])

export async function makeItems(engine: Engine, task: string, config: Config) {
  const items: HardenedItem[] = []
  let usedMs = 0
  for (let from = 0, count = FIRST_CALL_ITEMS; count > 0; count = planNextCall(items, from, usedMs)) {
    const before = readChildProcessorMs()
    const made = await makeHardenedItems(engine, task, config, listPositions(task, from, count))
    items.push(...made.filter(({ entry }) => isAnswerable(task, entry))) // as in the sequence of a run with hardened scoring
    usedMs += readChildProcessorMs() - before
    from += count
  }
  if (items.length === 0) throw new Error(`${task}: no item could be made at ${JSON.stringify(config)}`)
  return { items, makeMs: usedMs / items.length }
}

/** How many items to ask for next, after `asked`; 0 ends it. */
function planNextCall(items: readonly HardenedItem[], asked: number, usedMs: number): number {
  const repeats =
    countEqualPairs(items.map(({ question }) => question)) > MAX_EQUAL_PAIRS ||
    doAnswersRepeat(items.flatMap(({ entry }) => entry.answer ?? []))
  const budgetMs = repeats ? COUNT_BUDGET_MS : MAKE_BUDGET_MS
  const overBudget = usedMs > MAKE_LIMIT_MS || (usedMs > budgetMs && items.length >= MIN_ITEMS)
  const enough = items.length >= ITEMS_IF_DISTINCT && !repeats
  if (overBudget || enough) return 0
  const affordable = Math.ceil(CALL_MS / Math.max(0.1, usedMs / asked))
  return Math.min(MAX_CALL_ITEMS, Math.max(FIRST_CALL_ITEMS, affordable), ITEMS - asked)
}

function listPositions(task: string, from: number, count: number): DatasetPosition[] {
  return Array.from({ length: count }, (_, k) =>
    INDEXED_TASKS.has(task) ? [FIRST_SEED, from + k] : [FIRST_SEED + from + k, 0],
  )
}

const MS_PER_TICK = 10

/**
 * The processor time of the Python workers of this process, which the load of the machine does not change: the sum over all
 * living descendants, and over their children that have ended. Linux only.
 */
function readChildProcessorMs(): number {
  return listChildren(process.pid).reduce((sum, pid) => sum + readTreeMs(pid), 0)
}

function readTreeMs(pid: number): number {
  return listChildren(pid).reduce((sum, child) => sum + readTreeMs(child), readProcessMs(pid))
}

function listChildren(pid: number): number[] {
  return readOrEmpty(() =>
    readdirSync(`/proc/${pid}/task`)
      .map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'))
      .join(' ')
      .split(' ')
      .filter((child) => child !== '')
      .map(Number),
  )
}

/** Fields 14 to 17 of /proc/PID/stat: utime, stime, cutime and cstime; the name, field 2, may hold spaces. */
function readProcessMs(pid: number): number {
  const [ticks = 0] = readOrEmpty(() => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return [fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)]
  })
  return ticks * MS_PER_TICK
}

/** A process may end while it is read. */
function readOrEmpty<T>(read: () => T[]): T[] {
  try {
    return read()
  } catch {
    return []
  }
}
