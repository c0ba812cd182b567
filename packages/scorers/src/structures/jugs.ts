/** 1 if the moves leave the target in a jug, 0.01 for other legal moves. Rule of `reasoning_gym/algorithmic/jugs.py`. */
import { z } from 'zod'
import { catchPythonError, PyLookupError } from '../python/errors.ts'
import { loads } from '../python/json.ts'
import { PyValueError } from '../python/numbers.ts'
import { splitWhitespace } from '../python/text.ts'
import { iterate, PyTypeError, type PyValue } from '../python/values.ts'
import { defineScorer } from '../scorer.ts'

const Puzzle = z.looseObject({ jug_capacities: z.array(z.int()), target: z.int() })
type Puzzle = z.infer<typeof Puzzle>

export const jugs = defineScorer({
  metadata: z.looseObject({ puzzle: Puzzle }),
  score: (answer, entry) => catchPythonError(() => (reachesTarget(entry.metadata.puzzle, loads(answer)) ? 1 : 0.01), 0),
})

function reachesTarget({ jug_capacities: capacities, target }: Puzzle, moves: PyValue): boolean {
  const levels = capacities.map(() => 0)
  for (const move of iterate(moves)) {
    if (typeof move !== 'string') throw new PyTypeError('no text')
    const [deed, jug] = splitWhitespace(move)
    if (jug === undefined) throw new PyLookupError('half a move')
    if (deed === 'fill') fillJug(levels, capacities, parseJugIndex(jug, capacities))
    else if (deed === 'empty') levels[parseJugIndex(jug, capacities)] = 0
    else if (deed === 'pour') pourJug(levels, capacities, jug)
    else throw new PyValueError('no such move')
  }
  return levels.includes(target)
}

function fillJug(levels: number[], capacities: readonly number[], jug: number): void {
  levels[jug] = capacities[jug] ?? 0
}

function pourJug(levels: number[], capacities: readonly number[], jugs: string): void {
  const [source = '', dest = '', ...more] = jugs.split('->')
  if (more.length > 0) throw new PyValueError('three jugs')
  const [i, j] = [parseJugIndex(source, capacities), parseJugIndex(dest, capacities)]
  const [from, to, room] = [levels[i] ?? 0, levels[j] ?? 0, capacities[j] ?? 0]
  const amount = Math.min(from, room - to)
  levels[i] = from - amount
  levels[j] = (levels[j] ?? 0) + amount
}

/** Jugs are named from A on. */
function parseJugIndex(jug: string, capacities: readonly number[]): number {
  const index = jug.length === 1 ? jug.charCodeAt(0) - 65 : -1
  if (index < 0 || index >= capacities.length) throw new PyLookupError('no such jug')
  return index
}
