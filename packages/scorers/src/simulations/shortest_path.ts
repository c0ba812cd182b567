/** Walks the path; 0.5 where it arrives by more steps than it needs. Rule of `reasoning_gym/graphs/shortest_path.py`. */
import { z } from 'zod'
import { splitWhitespace, strip } from '../python/text.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'

const MazeMatrix = z.array(z.array(z.string()))
const DIRECTIONS = new Map<string, readonly [number, number]>([
  ['right', [0, 1]],
  ['down', [1, 0]],
  ['left', [0, -1]],
  ['up', [-1, 0]],
])

export const shortestPath = defineScorer({
  metadata: z.looseObject({ matrix: MazeMatrix }),
  score(answer, entry) {
    const wanted = strip(requireOracleAnswer(entry))
    if (answer === '') return 0
    if (strip(answer) === wanted) return 1
    const path = splitWhitespace(answer)
    if (!reachesDestination(entry.metadata.matrix, path)) return 0
    return path.length === splitWhitespace(wanted).length ? 1 : 0.5
  },
})

function reachesDestination(matrix: z.infer<typeof MazeMatrix>, path: readonly string[]): boolean {
  let row = matrix.findIndex((cells) => cells.includes('*'))
  let column = matrix[row]?.indexOf('*') ?? -1
  for (const name of path) {
    const direction = DIRECTIONS.get(name)
    if (direction === undefined) return false
    row += direction[0]
    column += direction[1]
    if ((matrix[row]?.[column] ?? 'X') === 'X') return false
  }
  return matrix[row]?.[column] === '#'
}
