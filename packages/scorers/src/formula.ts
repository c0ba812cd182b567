/** Reads a logical formula as the library does: the weakest operator outside all brackets that stands furthest right splits it. */
import { PY_S } from './python/text.ts'
import { InvalidAnswerError } from './scorer.ts'

export type LogicalOperator = '↔' | '→' | '∨' | '∧' | '¬'

/** One step of a formula in postfix; any text that is no formula is a variable of that name. */
export type FormulaStep = { kind: 'variable'; name: string } | { kind: 'operator'; operator: LogicalOperator }

/** The library's parser, one call a level, meets Python's limit of 1,000 calls at about here. */
const MAX_DEPTH = 985

/** Where Python raises RecursionError. */
export class FormulaTooDeepError extends InvalidAnswerError {}

type ParseTask = { kind: 'text'; start: number; end: number; depth: number } | { kind: 'step'; step: FormulaStep }

const BINARY_OPERATORS = ['↔', '→', '∨', '∧'] as const
type BinaryOperator = (typeof BINARY_OPERATORS)[number]
const SPACE_PATTERN = new RegExp(PY_S, 'v')

/** The formula in postfix, undefined where a part of it is empty; throws TooDeep. Each text is found in a table, not by a scan. */
export function parseFormula(text: string): FormulaStep[] | undefined {
  const map = buildBracketMap(text)
  const steps: FormulaStep[] = []
  const tasks: ParseTask[] = [{ kind: 'text', start: 0, end: text.length, depth: 1 }]
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
    if (task.kind === 'step') {
      steps.push(task.step)
      continue
    }
    const [start, end] = trimRange(text, task.start, task.end)
    if (task.depth > MAX_DEPTH) throw new FormulaTooDeepError('the formula is nested too deep')
    if (start === end) return undefined
    tasks.push(...splitFormula(text, map, start, end, task.depth + 1))
  }
  return steps
}

/** What to do for the text from start to end, last first: its left side is read before its right side. */
function splitFormula(text: string, map: BracketMap, start: number, end: number, depth: number): ParseTask[] {
  if (map.closing[start] === end - 1) return [{ kind: 'text', start: start + 1, end: end - 1, depth }]
  const level = map.level[end] ?? 0
  for (const operator of BINARY_OPERATORS) {
    const at = findLastBefore(map.operatorPositions[operator].get(level) ?? [], end)
    if (at !== undefined && at >= start) {
      return [
        { kind: 'step', step: { kind: 'operator', operator } },
        { kind: 'text', start: at + 1, end, depth },
        { kind: 'text', start, end: at, depth },
      ]
    }
  }
  if (text[start] !== '¬') return [{ kind: 'step', step: { kind: 'variable', name: text.slice(start, end) } }]
  return [
    { kind: 'step', step: { kind: 'operator', operator: '¬' } },
    { kind: 'text', start: start + 1, end, depth },
  ]
}

interface BracketMap {
  /** How many brackets are open in front of each character, negative where more were closed. */
  level: Int32Array
  /** The closing bracket of each opening one, else -1. */
  closing: Int32Array
  /** Where each operator stands, by level, ascending. */
  operatorPositions: Record<BinaryOperator, Map<number, number[]>>
}

function buildBracketMap(text: string): BracketMap {
  const level = new Int32Array(text.length + 1)
  const closing = new Int32Array(text.length).fill(-1)
  const places: BracketMap['operatorPositions'] = { '↔': new Map(), '→': new Map(), '∨': new Map(), '∧': new Map() }
  const open: number[] = []
  for (let i = 0; i < text.length; i++) {
    const ch = text[i]
    const here = level[i] ?? 0
    level[i + 1] = here + (ch === '(' ? 1 : ch === ')' ? -1 : 0)
    if (ch === '(') open.push(i)
    const opened = ch === ')' ? open.pop() : undefined
    if (opened !== undefined) closing[opened] = i
    if (ch === '↔' || ch === '→' || ch === '∨' || ch === '∧') addPlace(places[ch], here, i)
  }
  return { level, closing, operatorPositions: places }
}

function addPlace(places: Map<number, number[]>, level: number, at: number): void {
  const known = places.get(level)
  if (known === undefined) places.set(level, [at])
  else known.push(at)
}

function findLastBefore(places: readonly number[], end: number): number | undefined {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle] ?? 0) < end) low = middle + 1
    else high = middle
  }
  return places[low - 1]
}

function trimRange(text: string, start: number, end: number): [start: number, end: number] {
  let [first, last] = [start, end]
  while (first < last && isBlank(text, first)) first++
  while (last > first && isBlank(text, last - 1)) last--
  return [first, last]
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return (code <= 0x20 || code >= 0x85) && SPACE_PATTERN.test(text[at] ?? '')
}
