/** JSON as codeio compares it: a tree with a label at each node, `key` or `key:value`. */
import { PyError } from '../python/numbers.ts'
import { codePointLength } from '../python/text.ts'
import { PyDict, type PyValue, sortByKey, str } from '../python/values.ts'

/** Nodes in postorder: each after its children, and these from left to right. */
export interface LabeledTree {
  labels: Label[]
  /** Of each node: the leftmost leaf under it, or itself. */
  leftmost: number[]
}

export interface Label extends MeasuredText {
  /** Undefined in a label without a colon. */
  parts: { key: MeasuredText; value: LabelValue } | undefined
}

export interface LabelValue extends MeasuredText {
  isInteger: boolean
  /** Of digits with any number of points; NaN where Python's `float` raises. */
  decimal: number | undefined
}

export interface MeasuredText {
  text: string
  /** In code points. */
  length: number
}

/** Thrown where only the library can tell the score. */
export class UncertainScoreError extends PyError {}

/** Far from the depth at which Python raises RecursionError. */
const MAX_DEPTH = 400
const INTEGER_PATTERN = /^\d+$/
const DECIMAL_PATTERN = /^\.*\d[\d.]*$/
/** What Python's `isnumeric` may take, besides ASCII digits: that depends on its version of Unicode. */
const MAYBE_NUMERIC_PATTERN = /^[\p{N}\p{Lo}.]*[\p{N}\p{Lo}]\.*$/u

export function buildTree(value: PyValue): LabeledTree {
  const tree: LabeledTree = { labels: [], leftmost: [] }
  addNode(tree, 'root', value, 1)
  return tree
}

function addNode(tree: LabeledTree, name: string, value: PyValue, depth: number): void {
  if (depth > MAX_DEPTH) throw new UncertainScoreError('nested too deeply')
  const first = tree.labels.length
  const children = listChildren(value)
  for (const [key, child] of children ?? []) addNode(tree, key, child, depth + 1)
  tree.labels.push(createLabel(children ? name : `${name}:${str(value)}`))
  tree.leftmost.push(first)
}

function listChildren(value: PyValue): [key: string, value: PyValue][] | undefined {
  if (Array.isArray(value)) return value.map((item, k) => [`item_${k}`, item])
  if (!(value instanceof PyDict)) return undefined
  return sortByKey(value.entries(), ([key]) => key).map(([key, item]) => [str(key), item])
}

function createLabel(text: string): Label {
  const colon = text.indexOf(':')
  if (colon < 0) return { ...measureText(text), parts: undefined }
  const parts = { key: measureText(text.slice(0, colon)), value: createValue(text.slice(colon + 1)) }
  return { ...measureText(text), parts }
}

function createValue(text: string): LabelValue {
  const decimal = DECIMAL_PATTERN.test(text) ? Number(text) : undefined
  if (decimal === undefined && MAYBE_NUMERIC_PATTERN.test(text)) throw new UncertainScoreError('maybe numeric')
  return { ...measureText(text), isInteger: INTEGER_PATTERN.test(text), decimal }
}

function measureText(text: string): MeasuredText {
  return { text, length: codePointLength(text) }
}
