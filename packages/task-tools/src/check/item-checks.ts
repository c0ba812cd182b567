/**
 * What a check of a task works on and says, and its first part: whether its items can be made, and again in another
 * process, in time, and without repeats.
 */

import { isDeepStrictEqual } from 'node:util'
import { type Finding, fail, ok, warn } from '@reasoning-gym-server/contract/finding'
import type { Config } from '@reasoning-gym-server/contract/recipe'
import type { DatasetPosition, Engine, EngineOutcome, GeneratedItem } from '../engine.ts'

export interface MadeItem extends GeneratedItem {
  position: DatasetPosition
}

/** Items that are made in both processes. */
const COMPARED_ITEMS = 100
const FIRST_ITEMS = 3
const ITEMS_AT_ONCE = 10
/** Slower items are not checked any further: the checks need more than a thousand. */
const TOO_SLOW_ITEM_MS = 1000
/** As the task cards count. */
const DISTINCT_ITEMS = 1000
const MIN_DISTINCT = 900
/** A trainer waits for each item. */
const SLOW_ITEM_MS = 50

const listPositions = (count: number): DatasetPosition[] => Array.from({ length: count }, (_, k) => [k, 0])

export function describeOutcome(outcome: EngineOutcome | undefined): string {
  if (outcome?.kind === 'lost' && outcome.reason === 'timeout') return 'it is not done in time'
  return outcome?.kind === 'value' ? JSON.stringify(outcome.value) : (outcome?.detail ?? 'no result')
}

/** Makes items at these positions, a few at a time, so that a task that hangs is found out soon. */
export async function makeItems(
  { engine, task }: Pick<CheckContext, 'engine' | 'task'>,
  config: Config,
  positions: DatasetPosition[],
): Promise<{ items: MadeItem[] } | { problem: string }> {
  const items: MadeItem[] = []
  for (let from = 0, count = 1; from < positions.length; from += count, count = ITEMS_AT_ONCE) {
    const chunk = positions.slice(from, from + count)
    const outcomes = await engine.generateItems(task, config, chunk)
    for (const [k, position] of chunk.entries()) {
      const outcome = outcomes[k]
      if (outcome?.kind !== 'value') return { problem: `seed ${position[0]}: ${describeOutcome(outcome)}` }
      items.push({ ...(outcome.value as GeneratedItem), position }) // as the engine checks
    }
  }
  return { items }
}

/** The items of the default config, and what is wrong with them. */
export async function checkItems(context: CheckContext): Promise<{ items: MadeItem[]; findings: Finding[] }> {
  const { engine, task, makeDeadlineMs } = context
  const advice = `__getitem__ must return an item for every seed and index, within ${makeDeadlineMs} ms`
  const first = await makeItems(context, {}, listPositions(1)) // not timed: its process imports the task
  if ('problem' in first) return { items: [], findings: [fail('items', first.problem, advice)] }
  const startedAt = performance.now()
  const few = await makeItems(context, {}, listPositions(FIRST_ITEMS))
  const perItem = (performance.now() - startedAt) / FIRST_ITEMS
  if ('problem' in few) return { items: [], findings: [fail('items', few.problem, advice)] }
  if (perItem > TOO_SLOW_ITEM_MS) {
    const slow = `an item takes ${formatMs(perItem)}; no more is checked`
    return {
      items: [],
      findings: [fail('speed', slow, `a trainer waits for items: aim at less than ${SLOW_ITEM_MS} ms`)],
    }
  }
  const made = await makeItems(context, {}, listPositions(COMPARED_ITEMS))
  if ('problem' in made) return { items: [], findings: [fail('items', made.problem, advice)] }
  const { items } = made
  const times: number[] = []
  for (const { position } of items.slice(0, 30)) {
    const started = performance.now()
    await engine.generateItems(task, {}, [position])
    times.push(performance.now() - started)
  }
  const usual = measureUsual(times)
  const speed = `${formatMs(usual)} per item, ${formatMs(Math.max(...times))} at most`
  const isSlow = usual > SLOW_ITEM_MS || Math.max(...times) > makeDeadlineMs / 2
  return {
    items,
    findings: [
      ok('items', `${items.length} items made`),
      checkTexts(items),
      checkEntries(items),
      await checkDeterminism(context, items),
      isSlow
        ? warn('speed', speed, `a trainer waits for items, and the server ends an item after ${makeDeadlineMs} ms`)
        : ok('speed', speed),
      await checkDistinct(context),
    ],
  }
}

function checkTexts(items: MadeItem[]): Finding {
  const empty = items.find(({ question }) => question.trim() === '')
  if (empty) return fail('texts', `seed ${empty.position[0]} has no question`, 'the question must say what is asked')
  const open = items.find(({ entry }) => entry.answer === null)
  if (open) {
    const advice = 'the answer must be a text that score_answer gives 1.0; the ladder and the oracle cannot be checked'
    return fail('texts', `seed ${open.position[0]} has no answer`, advice)
  }
  const leak = items.filter(
    ({ question, entry }) => (entry.answer ?? '').length > 3 && question.includes(entry.answer ?? ''),
  )
  if (leak.length > items.length / 2) {
    const advice = 'make sure that the question does not give the answer away'
    return warn('texts', `${leak.length} of ${items.length} questions contain their answer`, advice)
  }
  const longest = Math.max(...items.map(({ question }) => question.length))
  return ok('texts', `questions have up to ${longest} characters`)
}

/** An entry is stored as JSON that keeps Python's types, and the scorer gets it back from there. */
function checkEntries(items: MadeItem[]): Finding {
  for (const { position, entry } of items) {
    const path = findOpaque(entry.metadata, 'metadata')
    if (path !== undefined) {
      const advice = 'use numbers, texts, lists, tuples, sets, dicts, fractions, decimals and dates only'
      return fail('JSON', `seed ${position[0]}: ${path} is an object that JSON cannot hold`, advice)
    }
  }
  return ok('JSON', 'entries survive a JSON round trip')
}

function findOpaque(value: unknown, path: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if ('$opaque' in value) return `${path} (${quote(String(value.$opaque))})`
  for (const [key, inner] of Object.entries(value)) {
    const found = findOpaque(inner, `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** Makes the same items in another process, with other string hashes, one by one and in the opposite order. */
async function checkDeterminism({ otherEngine, task }: CheckContext, items: MadeItem[]): Promise<Finding> {
  const advice = 'derive everything from Random(seed + index): no time, no global random state, no order of a set'
  for (const { position, question, entry } of items.toReversed()) {
    const [outcome] = await otherEngine.generateItems(task, {}, [position])
    if (outcome?.kind !== 'value')
      return fail('determinism', `seed ${position[0]}: ${describeOutcome(outcome)}`, advice)
    const again = outcome.value as GeneratedItem // as the engine checks
    if (again.question !== question) {
      const texts = `${quote(question)} and ${quote(again.question)}`
      return fail('determinism', `seed ${position[0]} gives another question in another process: ${texts}`, advice)
    }
    if (!isDeepStrictEqual(again.entry, entry)) {
      const what = again.entry.answer === entry.answer ? 'other metadata' : 'another answer'
      return fail('determinism', `seed ${position[0]} gives ${what} in another process`, advice)
    }
  }
  return ok('determinism', `${items.length} items are the same in two processes with different hash seeds`)
}

async function checkDistinct(context: CheckContext): Promise<Finding> {
  const made = await makeItems(context, {}, listPositions(DISTINCT_ITEMS))
  if ('problem' in made)
    return fail('distinct', made.problem, '__getitem__ must return an item for every seed and index')
  const distinct = new Set(made.items.map(({ question }) => question)).size
  const found = `${distinct} of ${DISTINCT_ITEMS} questions are distinct`
  if (distinct >= MIN_DISTINCT) return ok('distinct', found)
  const advice = 'a model learns repeated questions by heart: draw from more numbers, words or shapes'
  return distinct < DISTINCT_ITEMS / 10 ? fail('distinct', found, advice) : warn('distinct', found, advice)
}

export interface CheckContext {
  engine: Pick<Engine, 'generateItems' | 'score' | 'explain'>
  /** The same with other string hashes, which decide the order of sets. */
  otherEngine: Pick<Engine, 'generateItems'>
  task: string
  defaults: Config
  makeDeadlineMs: number
}

export function scoreAll(
  { engine, task }: CheckContext,
  { position, entry }: MadeItem,
  answers: string[],
): Promise<EngineOutcome[]> {
  return engine.score(task, {}, position[0], entry, answers)
}

/** Shortens a text for a line of the report. */
export function quote(text: string, chars = 60): string {
  const shown = JSON.stringify(text)
  return shown.length <= chars ? shown : `${shown.slice(0, chars)}…`
}

/** The lower quartile of times: other programs of the machine make some calls slower, and none faster. */
export function measureUsual(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 4)] ?? 0
}

export function formatMs(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`
}
