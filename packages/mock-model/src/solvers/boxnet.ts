/** Moves each box to its target one square at a time, along its row first and then along its column. */

/** The contents of each square, by `row_column` of its center. */
export type BoxnetSquares = Record<string, string[]>

/** Returns a plan in the format of answers, or undefined if a box has no target. */
export function solveBoxnet(squares: BoxnetSquares): string | undefined {
  const things = Object.entries(squares).flatMap(([square, names]) => names.map((name) => ({ square, name })))
  const targets = things.filter(({ name }) => name.startsWith('target_'))
  const plan: Record<string, string>[] = []
  for (const { square, name } of things.filter(({ name }) => name.startsWith('box_'))) {
    const at = targets.findIndex((target) => target.name === `target_${name.slice('box_'.length)}`)
    const [target] = at === -1 ? [] : targets.splice(at, 1) // two boxes of one color have one target each
    if (!target) return undefined
    plan.push(...planBoxMoves(name, square, target))
  }
  return JSON.stringify(plan)
}

function planBoxMoves(box: string, from: string, target: { square: string; name: string }): Record<string, string>[] {
  const [row = 0, column = 0] = from.split('_').map(Number)
  const [endRow = 0, endColumn = 0] = target.square.split('_').map(Number)
  const path = [
    ...listSteps(row, endRow).map((r): [number, number] => [r, column]),
    ...listSteps(column, endColumn)
      .slice(1)
      .map((c): [number, number] => [endRow, c]),
  ]
  return path.map((square, k) => {
    const next = path[k + 1]
    return { [`Agent${formatSquare(square)}`]: `move(${box}, ${next ? `square${formatSquare(next)}` : target.name})` }
  })
}

/** Both ends and all squares between, in steps of 1. */
function listSteps(from: number, to: number): number[] {
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, k) => from + k * Math.sign(to - from))
}

function formatSquare([row, column]: [number, number]): string {
  return `[${row}, ${column}]`
}
