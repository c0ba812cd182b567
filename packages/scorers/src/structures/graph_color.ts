/** 1 for a coloring without conflict, 0.01 for any other that can be parsed. Rule of `reasoning_gym/algorithmic/graph_color.py`. */
import { z } from 'zod'
import { catchPythonError, PyLookupError } from '../python/errors.ts'
import { loads } from '../python/json.ts'
import { equals, hashKey, PyDict, PyTypeError, type PyValue } from '../python/values.ts'
import { defineScorer } from '../scorer.ts'

const Puzzle = z.looseObject({
  vertices: z.array(z.int()),
  edges: z.array(z.strictObject({ $tuple: z.tuple([z.int(), z.int()]) })),
  color_options: z.array(z.int()),
})
type Puzzle = z.infer<typeof Puzzle>

export const graphColor = defineScorer({
  metadata: z.looseObject({ puzzle: Puzzle }),
  score: (answer, entry) => catchPythonError(() => (isColoring(entry.metadata.puzzle, loads(answer)) ? 1 : 0.01), 0),
})

function isColoring(puzzle: Puzzle, given: PyValue): boolean {
  const colorOf = createColorLookup(given)
  const colors = new Map<number, PyValue>()
  for (const vertex of puzzle.vertices) {
    const color = colorOf(vertex)
    if (color === undefined) return false
    colors.set(vertex, color)
  }
  const allowed = new Set(puzzle.color_options.map((color) => hashKey(BigInt(color))))
  if (![...colors.values()].every((color) => allowed.has(hashKey(color)))) return false
  return puzzle.edges.every(({ $tuple: [u, v] }) => !equals(colors.get(u) ?? null, colors.get(v) ?? null))
}

/** A vertex's color, if any. A list has a vertex's color at its index if the vertex is anywhere among its items. */
function createColorLookup(given: PyValue): (vertex: number) => PyValue | undefined {
  if (given instanceof PyDict) return (vertex) => given.get(String(vertex))
  if (!Array.isArray(given)) throw new PyTypeError('no container')
  const members = new Set(given.filter(isScalar).map(hashKey))
  return (vertex) => {
    if (!members.has(hashKey(BigInt(vertex)))) {
      if (members.has(hashKey(String(vertex)))) throw new PyTypeError('no index')
      return undefined
    }
    const color = given[vertex]
    if (color === undefined) throw new PyLookupError('no such index')
    return color
  }
}

function isScalar(value: PyValue): boolean {
  return !Array.isArray(value) && !(value instanceof PyDict)
}
