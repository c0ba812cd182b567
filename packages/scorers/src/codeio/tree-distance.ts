/**
 * The edit distance of two trees, by the algorithm of Zhang and Shasha: the sums that the package `zss` makes, in its order, as far as
 * they stay below a limit.
 */
import type { LabeledTree } from './json-tree.ts'
import { addLabelDistance, StepLimit } from './label-distance.ts'

/** More than any error of rounding in a sum of distances. */
const SLACK = 1 + 1e-9
/** Pairs of nodes whose distance takes as long to make room for as a step. */
const PAIRS_PER_STEP = 2

/** The distance, or more than `most` where it is more. Throws UncertainScoreError where that would take long. */
export function measureTreeDistance(a: LabeledTree, b: LabeledTree, most: number): number {
  const [left, right] = [new ComparedTree(a, most * SLACK), new ComparedTree(b, most * SLACK)]
  const surplus = left.lengths.length - right.lengths.length
  if (surplus > left.mostEdited || -surplus > right.mostEdited) return Infinity
  return new TreeComparison(left, right, most * SLACK).measure()
}

class ComparedTree {
  readonly labels: LabeledTree['labels']
  readonly leftmost: Uint32Array
  /** What it costs to remove or insert each node. */
  readonly lengths: Uint32Array
  /** Of the nodes with the same leftmost leaf, the highest. */
  readonly keyRoots: number[]
  /** More nodes than these cost more than the limit to remove or insert. */
  readonly mostEdited: number

  constructor({ labels, leftmost }: LabeledTree, limit: number) {
    this.labels = labels
    this.leftmost = Uint32Array.from(leftmost)
    this.lengths = Uint32Array.from(labels, ({ length }) => length)
    this.keyRoots = [...new Map(leftmost.map((leaf, node) => [leaf, node])).values()].toSorted((x, y) => x - y)
    this.mostEdited = countWithin(limit, this.lengths.toSorted())
  }
}

class TreeComparison {
  readonly #a: ComparedTree
  readonly #b: ComparedTree
  readonly #limit: number
  readonly #steps = new StepLimit()
  /** Distances of subtrees, by their roots. */
  readonly #subtrees: Float64Array
  /** Distances of what is before two nodes, in the subtrees that are compared now: by row and column, from 0 for nothing. */
  readonly #forests: Float64Array

  constructor(a: ComparedTree, b: ComparedTree, limit: number) {
    const [m, n] = [a.lengths.length, b.lengths.length]
    this.#a = a
    this.#b = b
    this.#limit = limit
    this.#steps.spend((m * n) / PAIRS_PER_STEP)
    this.#subtrees = new Float64Array(m * n).fill(Infinity)
    this.#forests = new Float64Array((m + 1) * (n + 2))
  }

  measure(): number {
    for (const i of this.#a.keyRoots) for (const j of this.#b.keyRoots) this.#compare(i, j)
    return this.#subtrees.at(-1) ?? Infinity
  }

  /** Ends with the first row that is above the limit, for then all that follow are. */
  #compare(i: number, j: number): void {
    const [top, left] = [this.#a.leftmost[i] ?? 0, this.#b.leftmost[j] ?? 0]
    const [forests, { lengths, mostEdited }] = [this.#forests, this.#b]
    const end = Math.min(j - left + 1, mostEdited)
    forests[0] = 0
    for (let y = 1; y <= end; y++) forests[y] = (forests[y - 1] ?? 0) + (lengths[left + y - 1] ?? 0)
    forests[end + 1] = Infinity
    for (let x = 1; x <= i - top + 1; x++) if (this.#fillRow(x, top, left, j) > this.#limit) return
  }

  /** Returns the least of the row. What is too far from the diagonal is above the limit. */
  #fillRow(x: number, top: number, left: number, j: number): number {
    const [a, b, forests, subtrees] = [this.#a, this.#b, this.#forests, this.#subtrees]
    const width = j - left + 3
    const [first, end] = [Math.max(1, x - a.mostEdited), Math.min(j - left + 1, x + b.mostEdited)]
    const removal = a.lengths[top + x - 1] ?? 0
    const before = (a.leftmost[top + x - 1] ?? 0) - top
    const row = x * width
    let last = first > 1 ? Infinity : (forests[row - width] ?? 0) + removal
    let least = last
    this.#steps.spend(end - first + 1)
    forests[row + first - 1] = last
    forests[row + end + 1] = Infinity
    for (let y = first; y <= end; y++) {
      const pair = (top + x - 1) * b.lengths.length + left + y - 1
      const above = row - width + y
      const other = (b.leftmost[left + y - 1] ?? 0) - left
      last = Math.min((forests[above] ?? 0) + removal, last + (b.lengths[left + y - 1] ?? 0))
      if (before === 0 && other === 0) {
        last = this.#replaceLabel(pair, forests[above - 1] ?? 0, last)
        subtrees[pair] = last
      } else if (before - other <= a.mostEdited && other - before <= b.mostEdited) {
        const both = (forests[before * width + other] ?? 0) + (subtrees[pair] ?? 0)
        if (both < last) last = both
      }
      forests[row + y] = last
      if (last < least) least = last
    }
    return least
  }

  /** `most`, or less if one label can become the other for less. */
  #replaceLabel(pair: number, before: number, most: number): number {
    const y = pair % this.#b.lengths.length
    const [a, b] = [this.#a.labels[(pair - y) / this.#b.lengths.length], this.#b.labels[y]]
    const bound = Math.min(most, this.#limit)
    if (!a || !b || before >= bound) return most
    const sum = addLabelDistance(before, a, b, bound, this.#steps)
    return sum < bound ? sum : most
  }
}

/** How many of the first numbers have a sum of at most `limit`. */
function countWithin(limit: number, numbers: Uint32Array): number {
  let [count, sum] = [0, 0]
  for (const number of numbers) {
    sum += number
    if (sum > limit) break
    count++
  }
  return count
}
