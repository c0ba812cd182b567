/** Plants faults, and counts those that a second opinion finds: a changed key, and a scorer that has lost one rule. */
import type { HardenedItem } from '../../src/grading/hardened-item.ts'
import type { SecondOpinion } from './second-opinion.ts'

export interface PlantedFaults {
  tries: number
  found: number
  /** Keys that were not noticed, each with the right one. */
  missed: string[]
}

/**
 * Changes the key of each item in turn, as if the others were right. Items whose key is wrong or missing already are left out, and
 * changes that make another right answer: a digit that the question lets round away, the board of another item that fits this one.
 */
export async function plantWrongKeys(items: readonly HardenedItem[], opinion: SecondOpinion): Promise<PlantedFaults> {
  const planted: PlantedFaults = { tries: 0, found: 0, missed: [] }
  for (const [k, item] of items.entries()) {
    const { question, rightKey, isAnswerable, clarification } = item
    if (rightKey === null || !isAnswerable) continue
    const asked = clarification === null ? question : `${question}\n\n${clarification}`
    const key = k % 2 === 0 ? changeOneSign(rightKey, k) : items[(k + 1) % items.length]?.rightKey
    if (key === null || key === undefined || meansTheSame(key, rightKey)) continue
    if ((await item.score([key]))[0] === 1) continue
    planted.tries++
    if ((await opinion.ask(asked, key, true)).key_is_right === false) planted.found++
    else planted.missed.push(`${key} for ${rightKey}`)
  }
  return planted
}

/**
 * For each rule that near misses break: whether these items would show that a scorer has lost it, by a near miss which that scorer
 * alone would pay.
 */
export async function plantLostRules(items: readonly HardenedItem[], opinion: SecondOpinion): Promise<PlantedFaults> {
  const shown = new Map<string, boolean>()
  for (const item of items) {
    if (!item.isAnswerable) continue
    const key = item.rightKey ?? item.entry.answer
    const { wrong: misses } = await opinion.ask(item.question, key)
    const wrong = misses.filter(([, answer]) => answer !== key) // a rotation by 360 degrees can be left out
    const scores = await item.score(wrong.map(([, answer]) => answer))
    for (const [k, [rule]] of wrong.entries()) shown.set(rule, shown.get(rule) || (scores[k] ?? 0) < 1)
  }
  const missed = [...shown].flatMap(([rule, isShown]) => (isShown ? [] : [rule]))
  return { tries: shown.size, found: shown.size - missed.length, missed }
}

/** Another digit or letter at a place that `turn` chooses. */
function changeOneSign(key: string, turn: number): string | undefined {
  const places = [...key.matchAll(/[0-9A-Za-z]/g)].map(({ index }) => index)
  const at = places[turn % Math.max(1, places.length)]
  if (at === undefined) return undefined
  const sign = key[at] ?? ''
  const other = /\d/.test(sign) ? String((Number(sign) % 9) + 1) : sign === 'q' ? 'k' : 'q'
  return other === sign ? undefined : key.slice(0, at) + other + key.slice(at + 1)
}

/** Generous: a key in another notation is no fault. */
function meansTheSame(a: string, b: string): boolean {
  const [x, y] = [a, b].map((text) => text.toLowerCase().replaceAll(/[^\w.]/g, ''))
  return x === y || (x !== '' && y !== '' && Number(x) === Number(y))
}
