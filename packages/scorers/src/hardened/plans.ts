/** Plans: only legal actions count, and only what is a plan is read as one. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { loads } from '../python/json.ts'
import { PyDict } from '../python/values.ts'
import { getBestScore, listAnswerVariants } from './answer-variants.ts'
import type { HardenedScorer } from './hardened-scorer.ts'

type SquareContents = Map<string, string[]>

const AGENT_PATTERN = /^Agent\[(\d+(?:\.\d+)?), ?(\d+(?:\.\d+)?)\]$/
const DELIVERY_PATTERN = /^move\(box_(\w+), ?target_(\w+)\)$/
const SHIFT_PATTERN = /^move\((box_\w+), ?square\[(\d+(?:\.\d+)?), ?(\d+(?:\.\d+)?)\]\)$/

/** The share of boxes delivered up to the first action that is not legal: a plan for every board fails early. */
export const boxnet: HardenedScorer = ({ entry }) => {
  const { initial_state: start } = z
    .looseObject({ initial_state: z.record(z.string(), z.array(z.string())) })
    .parse(entry.metadata)
  const boxes = countBoxes(Object.values(start))
  return (answer) =>
    getBestScore(listAnswerVariants(answer), (reading) => {
      const plan = catchPythonError(() => loads(reading), null)
      if (!Array.isArray(plan) || boxes === 0) return 0
      const squares: SquareContents = new Map(Object.entries(start).map(([square, items]) => [square, [...items]]))
      const actions = plan.flatMap((step): [unknown, unknown][] =>
        step instanceof PyDict ? step.entries() : [[null, null]],
      )
      for (const [who, what] of actions) if (!applyAction(squares, who, what)) break
      return (boxes - countBoxes(squares.values())) / boxes
    })
}

function countBoxes(squares: Iterable<readonly string[]>): number {
  return [...squares].flat().filter((item) => item.startsWith('box_')).length
}

/** False where the action is not legal, and nothing is done. */
function applyAction(squares: SquareContents, who: unknown, what: unknown): boolean {
  if (typeof who !== 'string' || typeof what !== 'string') return false
  const [, x = '', y = ''] = AGENT_PATTERN.exec(who) ?? []
  const here = squares.get(formatSquareKey(x, y))
  if (here === undefined) return false
  const [, box, target] = DELIVERY_PATTERN.exec(what) ?? []
  if (box !== undefined) return box === target && here.includes(`target_${box}`) && deliverBox(here, box)
  const [, item = '', toX = '', toY = ''] = SHIFT_PATTERN.exec(what) ?? []
  const there = squares.get(formatSquareKey(toX, toY))
  const steps = Math.abs(Number(x) - Number(toX)) + Math.abs(Number(y) - Number(toY))
  if (there === undefined || steps !== 1 || !removeItem(here, item)) return false
  there.push(item)
  return true
}

/** The library's name of a square: `0.5_1.5`. */
function formatSquareKey(x: string, y: string): string {
  return [x, y].map((at) => (Number.isInteger(Number(at)) ? Number(at).toFixed(1) : String(Number(at)))).join('_')
}

function deliverBox(items: string[], color: string): boolean {
  return removeItem(items, `box_${color}`) && removeItem(items, `target_${color}`)
}

function removeItem(items: string[], item: string): boolean {
  const at = items.indexOf(item)
  if (at === -1) return false
  items.splice(at, 1)
  return true
}

const OTHER_LETTERS_PATTERN = /[D-Zd-z]/
const ARROWS_PATTERN = /\\(?:rightarrow|to)/g

/** A sequence of buttons and nothing else: the library reads every a, b and c of a sentence as a button. */
export const hardenedQuantumLock: HardenedScorer = ({ upstream }) => {
  return (answer) =>
    getBestScore(listAnswerVariants(answer), (reading) => {
      const presses = reading.replaceAll(ARROWS_PATTERN, '→')
      return OTHER_LETTERS_PATTERN.test(presses) ? 0 : upstream(presses)
    })
}
