/** Plans: only legal actions count, and only what is a plan is read as one. */
import { z } from 'zod'
import { loads } from '../python/json.ts'
import { caught } from '../python/raised.ts'
import { PyDict } from '../python/values.ts'
import type { Hardening } from './hardening.ts'
import { best, readingsOf } from './readings.ts'

type Squares = Map<string, string[]>

const agent = /^Agent\[(\d+(?:\.\d+)?), ?(\d+(?:\.\d+)?)\]$/
const delivery = /^move\(box_(\w+), ?target_(\w+)\)$/
const shift = /^move\((box_\w+), ?square\[(\d+(?:\.\d+)?), ?(\d+(?:\.\d+)?)\]\)$/

/** The share of boxes delivered up to the first action that is not legal: a plan for every board fails early. */
export const boxnet: Hardening = ({ entry }) => {
  const { initial_state: start } = z
    .looseObject({ initial_state: z.record(z.string(), z.array(z.string())) })
    .parse(entry.metadata)
  const boxes = countBoxes(Object.values(start))
  return (answer) =>
    best(readingsOf(answer), (reading) => {
      const plan = caught(() => loads(reading), null)
      if (!Array.isArray(plan) || boxes === 0) return 0
      const squares: Squares = new Map(Object.entries(start).map(([square, items]) => [square, [...items]]))
      const actions = plan.flatMap((step): [unknown, unknown][] =>
        step instanceof PyDict ? step.entries() : [[null, null]],
      )
      for (const [who, what] of actions) if (!act(squares, who, what)) break
      return (boxes - countBoxes(squares.values())) / boxes
    })
}

function countBoxes(squares: Iterable<readonly string[]>): number {
  return [...squares].flat().filter((item) => item.startsWith('box_')).length
}

/** False where the action is not legal, and nothing is done. */
function act(squares: Squares, who: unknown, what: unknown): boolean {
  if (typeof who !== 'string' || typeof what !== 'string') return false
  const [, x = '', y = ''] = agent.exec(who) ?? []
  const here = squares.get(squareOf(x, y))
  if (here === undefined) return false
  const [, box, target] = delivery.exec(what) ?? []
  if (box !== undefined) return box === target && here.includes(`target_${box}`) && deliver(here, box)
  const [, item = '', toX = '', toY = ''] = shift.exec(what) ?? []
  const there = squares.get(squareOf(toX, toY))
  const steps = Math.abs(Number(x) - Number(toX)) + Math.abs(Number(y) - Number(toY))
  if (there === undefined || steps !== 1 || !take(here, item)) return false
  there.push(item)
  return true
}

/** The library's name of a square: `0.5_1.5`. */
function squareOf(x: string, y: string): string {
  return [x, y].map((at) => (Number.isInteger(Number(at)) ? Number(at).toFixed(1) : String(Number(at)))).join('_')
}

function deliver(items: string[], color: string): boolean {
  return take(items, `box_${color}`) && take(items, `target_${color}`)
}

function take(items: string[], item: string): boolean {
  const at = items.indexOf(item)
  if (at === -1) return false
  items.splice(at, 1)
  return true
}

const otherLetters = /[D-Zd-z]/
const arrows = /\\(?:rightarrow|to)/g

/** A sequence of buttons and nothing else: the library reads every a, b and c of a sentence as a button. */
export const quantumLock: Hardening = ({ upstream }) => {
  return (answer) =>
    best(readingsOf(answer), (reading) => {
      const presses = reading.replaceAll(arrows, '→')
      return otherLetters.test(presses) ? 0 : upstream(presses)
    })
}
