/** rectangle_count: two rectangles that cross can be read as four others. */
import type { DatasetEntry } from '../scorer.ts'
import type { Correction } from './correction.ts'

/** More of them are taken for a sign that the drawing has several readings. */
const MAX_CHOICES = 200
const MAX_OUTLINES = 2000

const [ONE, TWO] = ['#', '█'].map((sign) => sign.charCodeAt(0))

/** Its cells, which are numbered row by row, without the blank ones. */
type Outline = Uint32Array

/** What is left of a drawing: how many outlines go through each cell, and those that may be among them. */
interface Rest {
  needs: Uint8Array
  /** How many of the outlines that are possible go through a cell. */
  covers: Uint16Array
  isPossible: Uint8Array
  count: number
}

class Drawing {
  readonly #outlines: readonly Outline[]
  /** The outlines through each cell, one cell after the other, and where those of a cell begin. */
  readonly #through: Uint16Array
  readonly #starts: Uint32Array
  readonly #whole: Rest
  #choices = 0

  constructor(text: string) {
    const rows = text.split('\n')
    const width = Math.max(...rows.map((row) => row.length)) + 1
    const grid = new Uint8Array(rows.length * width)
    const drawn: number[] = []
    const numbers = new Uint32Array(grid.length)
    for (const [y, row] of rows.entries()) {
      for (let x = 0; x < row.length; x++) {
        const [cell, need] = [y * width + x, toNeed(row.charCodeAt(x))]
        grid[cell] = need
        if (need > 0) numbers[cell] = drawn.push(cell) - 1
      }
    }
    this.#outlines = listOutlines(grid, width).map((outline) => outline.map((cell) => numbers[cell] ?? 0))
    const covers = new Uint16Array(drawn.length)
    for (const cells of this.#outlines) for (const cell of cells) covers[cell] = (covers[cell] ?? 0) + 1
    this.#starts = new Uint32Array(drawn.length + 1)
    for (const [cell, count] of covers.entries()) this.#starts[cell + 1] = (this.#starts[cell] ?? 0) + count
    this.#through = new Uint16Array(this.#starts.at(-1) ?? 0)
    const ends = this.#starts.slice()
    for (const [outline, cells] of this.#outlines.entries()) {
      for (const cell of cells) {
        const end = ends[cell] ?? 0
        this.#through[end] = outline
        ends[cell] = end + 1
      }
    }
    const needs = Uint8Array.from(drawn, (cell) => grid[cell] ?? 0)
    this.#whole = { needs, covers, isPossible: new Uint8Array(this.#outlines.length).fill(1), count: 0 }
  }

  #listThrough(cell: number): Uint16Array {
    return this.#through.subarray(this.#starts[cell], this.#starts[cell + 1])
  }

  /** Whether another number of outlines makes the drawing, too. */
  canHaveOther(count: number): boolean {
    if (this.#outlines.length > MAX_OUTLINES) return true
    const rest = this.#copy(this.#whole)
    return this.#settle(rest, [...rest.needs.keys()]) && this.#search(rest, count)
  }

  #search(rest: Rest, count: number): boolean {
    const cell = rest.needs.findIndex((need) => need > 0)
    if (cell < 0) return rest.count !== count
    return this.#listThrough(cell).some((outline) => {
      if (rest.isPossible[outline] === 0) return false
      if (++this.#choices > MAX_CHOICES) return true
      const next = this.#copy(rest)
      return this.#settle(next, this.#take(next, outline)) && this.#search(next, count)
    })
  }

  /** Takes the outlines that are the only ones through a cell; false where a cell is left without. */
  #settle(rest: Rest, cells: number[]): boolean {
    for (let cell = cells.pop(); cell !== undefined; cell = cells.pop()) {
      if (rest.needs[cell] === 0) continue
      if (rest.covers[cell] === 0) return false
      const only = rest.covers[cell] === 1 && this.#listThrough(cell).find((outline) => rest.isPossible[outline] === 1)
      if (typeof only === 'number') cells.push(cell, ...this.#take(rest, only))
    }
    return true
  }

  /** The cells with fewer possible outlines than before. */
  #take(rest: Rest, outline: number): number[] {
    const changed: number[] = []
    rest.count++
    for (const cell of this.#outlines[outline] ?? []) {
      const need = (rest.needs[cell] ?? 0) - 1
      rest.needs[cell] = need
      if (need === 0) for (const other of this.#listThrough(cell)) this.#exclude(rest, other, changed)
    }
    return changed
  }

  #exclude(rest: Rest, outline: number, changed: number[]): void {
    if (rest.isPossible[outline] === 0) return
    rest.isPossible[outline] = 0
    for (const cell of this.#outlines[outline] ?? []) {
      rest.covers[cell] = (rest.covers[cell] ?? 0) - 1
      if ((rest.covers[cell] ?? 0) < 2) changed.push(cell)
    }
  }

  #copy({ needs, covers, isPossible, count }: Rest): Rest {
    return { needs: needs.slice(), covers: covers.slice(), isPossible: isPossible.slice(), count }
  }
}

function toNeed(sign: number | undefined): number {
  return sign === ONE ? 1 : sign === TWO ? 2 : 0
}

/** All rectangles of at least three by three cells whose outline is drawn somehow. */
function listOutlines(grid: Uint8Array, width: number): Outline[] {
  const [right, down] = measureRuns(grid, width)
  const found: Outline[] = []
  for (const [corner, run] of right.entries()) {
    for (let w = 2; w < run; w++) {
      const depth = Math.min(down[corner] ?? 0, down[corner + w] ?? 0)
      for (let h = 2; h < depth && found.length <= MAX_OUTLINES; h++)
        if ((right[corner + h * width] ?? 0) > w) found.push(listCells(corner, w, h * width, width))
    }
  }
  return found
}

/** How many cells from each on are drawn without a gap. The last column is empty. */
function measureRuns(grid: Uint8Array, width: number): [right: Uint16Array, down: Uint16Array] {
  const [right, down] = [new Uint16Array(grid.length), new Uint16Array(grid.length)]
  for (let cell = grid.length - 1; cell >= 0; cell--) {
    if (grid[cell] === 0) continue
    right[cell] = (right[cell + 1] ?? 0) + 1
    down[cell] = (down[cell + width] ?? 0) + 1
  }
  return [right, down]
}

function listCells(corner: number, toRight: number, toBottom: number, width: number): Outline {
  const cells = new Uint32Array(2 * toRight + (2 * toBottom) / width)
  let k = 0
  for (let x = 0; x <= toRight; x++) {
    cells[k++] = corner + x
    cells[k++] = corner + toBottom + x
  }
  for (let y = width; y < toBottom; y += width) {
    cells[k++] = corner + y
    cells[k++] = corner + y + toRight
  }
  return cells
}

function hasReadings({ question, answer }: DatasetEntry): boolean {
  return new Drawing(question.split('grid below?\n')[1] ?? '').canHaveOther(Number(answer))
}

export const rectangleCount: Correction = {
  reason: 'Two rectangles that cross can be read as the four that lie round the place where they do.',
  clarification: (entry) =>
    hasReadings(entry) ? 'Note: count the fewest rectangles of which this drawing can be made.' : undefined,
}
