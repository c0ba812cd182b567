/** Corrections of tasks on matrices: which way one turns, what a mirror reverses, and how edges are pooled. */
import { z } from 'zod'
import { splitWhitespace, strip } from '../python/text.ts'
import type { Correction } from './correction.ts'

type Matrix = readonly (readonly number[])[]

const ManipulatedMatrix = z.looseObject({
  matrix: z.array(z.array(z.int())),
  operations: z.array(
    z.discriminatedUnion('transform', [
      z.looseObject({ transform: z.literal('rotate'), degrees: z.enum(['90', '180', '270', '360']) }),
      z.looseObject({ transform: z.enum(['hmirror', 'vmirror', 'dmirror', 'cmirror']) }),
      z.looseObject({ transform: z.literal('map'), from: z.int(), to: z.int() }),
      z.looseObject({ transform: z.literal('zero_divisible'), k: z.int() }),
      z.looseObject({
        transform: z.literal('crop'),
        row_start: z.int(),
        row_end: z.int(),
        col_start: z.int(),
        col_end: z.int(),
      }),
      z.looseObject({ transform: z.enum(['remove_every_nth_row', 'remove_every_nth_col']), n: z.int() }),
    ]),
  ),
})
type Operation = z.infer<typeof ManipulatedMatrix>['operations'][number]

interface Reading {
  isClockwise: boolean
  /** To mirror horizontally reverses the order of the rows, and vertically each row. */
  isUpsideDown: boolean
}

const KEY_READING: Reading = { isClockwise: true, isUpsideDown: true }
const OTHER_READINGS: readonly Reading[] = [
  { isClockwise: false, isUpsideDown: true },
  { isClockwise: true, isUpsideDown: false },
  { isClockwise: false, isUpsideDown: false },
]

export const manipulateMatrix: Correction = {
  reason:
    'The question does not say that rotations are clockwise, and that a horizontal mirror is upside down in the key.',
  clarification({ metadata }) {
    const { matrix, operations } = ManipulatedMatrix.parse(metadata)
    const notes = [
      ...(operations.some(hasDirection) ? ['rotations are clockwise'] : []),
      ...(operations.some(isMirror)
        ? ['to mirror horizontally turns the matrix upside down, and to mirror vertically swaps left and right']
        : []),
    ]
    if (notes.length === 0) return undefined
    const resultIn = (reading: Reading) =>
      JSON.stringify(operations.reduce<Matrix>((m, op) => apply(m, op, reading), matrix))
    const result = resultIn(KEY_READING)
    return OTHER_READINGS.some((reading) => resultIn(reading) !== result) ? `Note: ${notes.join('; ')}.` : undefined
  },
}

function hasDirection(operation: Operation): boolean {
  return operation.transform === 'rotate' && (operation.degrees === '90' || operation.degrees === '270')
}

function isMirror({ transform }: Operation): boolean {
  return transform === 'hmirror' || transform === 'vmirror'
}

function apply(matrix: Matrix, operation: Operation, { isClockwise, isUpsideDown }: Reading): Matrix {
  switch (operation.transform) {
    case 'rotate':
      return rotate(matrix, isClockwise ? Number(operation.degrees) : 360 - Number(operation.degrees))
    case 'hmirror':
      return isUpsideDown ? matrix.toReversed() : reverseRows(matrix)
    case 'vmirror':
      return isUpsideDown ? reverseRows(matrix) : matrix.toReversed()
    case 'dmirror':
      return transpose(matrix)
    case 'cmirror':
      return transpose(rotate(matrix, 180))
    case 'map':
      return mapCells(matrix, (cell) => (cell === operation.from ? operation.to : cell))
    case 'zero_divisible':
      return mapCells(matrix, (cell) => (cell % operation.k === 0 ? 0 : cell))
    case 'crop':
      return matrix
        .slice(operation.row_start - 1, operation.row_end)
        .map((row) => row.slice(operation.col_start - 1, operation.col_end))
    case 'remove_every_nth_row':
      return matrix.filter((_, k) => (k + 1) % operation.n !== 0)
    case 'remove_every_nth_col':
      return matrix.map((row) => row.filter((_, k) => (k + 1) % operation.n !== 0))
  }
}

function rotate(matrix: Matrix, degreesClockwise: number): Matrix {
  if (degreesClockwise === 180) return reverseRows(matrix.toReversed())
  if (degreesClockwise === 90) return transpose(matrix.toReversed())
  return degreesClockwise === 270 ? transpose(matrix).toReversed() : matrix
}

function reverseRows(matrix: Matrix): Matrix {
  return matrix.map((row) => row.toReversed())
}

function transpose(matrix: Matrix): Matrix {
  return (matrix[0] ?? []).map((_, k) => matrix.map((row) => row[k] ?? 0))
}

function mapCells(matrix: Matrix, change: (cell: number) => number): Matrix {
  return matrix.map((row) => row.map(change))
}

const PooledMatrix = z.looseObject({
  matrix: z.array(z.array(z.int())),
  pool_type: z.enum(['average', 'max']),
  pool_size: z.int(),
})
type Pooling = z.infer<typeof PooledMatrix>
const Sizes = z.looseObject({ rows: z.int(), cols: z.int(), pool_size: z.int() })

const DECIMAL_PATTERN = /^(?:\d+(?:\.(\d*))?|\.(\d+))$/
/** More than a float loses, less than any mean is from another. */
const TOLERANCE = 1e-9

export const poolMatrix: Correction = {
  reason:
    'Elements within one percent are paid though two decimals are asked for, and a row for a column; the question does not say how regions at the edges are pooled.',
  decide({ entry }) {
    const wanted = pool(PooledMatrix.parse(entry.metadata))
    return (answer) => {
      const rows = strip(answer)
        .split('\n')
        .map(splitWhitespace)
        .filter((words) => words.length > 0)
      return (
        rows.length === wanted.length &&
        rows.every(
          (words, i) => words.length === wanted[i]?.length && words.every((word, j) => isRight(word, wanted[i]?.[j])),
        )
      )
    }
  },
  clarification({ metadata }) {
    const { rows, cols, pool_size: size } = Sizes.parse(metadata)
    return rows % size === 0 && cols % size === 0
      ? undefined
      : 'Note: a region at the edge that is smaller than the kernel is pooled over the elements that it has.'
  },
}

function pool({ matrix, pool_type, pool_size: size }: Pooling): number[][] {
  return listStarts(matrix.length, size).map((top) => {
    const rows = matrix.slice(top, top + size)
    return listStarts(matrix[0]?.length ?? 0, size).map((left) => {
      const cells = rows.flatMap((row) => row.slice(left, left + size))
      return pool_type === 'max' ? Math.max(...cells) : cells.reduce((sum, cell) => sum + cell, 0) / cells.length
    })
  })
}

function listStarts(length: number, step: number): number[] {
  return Array.from({ length: Math.ceil(length / step) }, (_, k) => k * step)
}

/** Rounded to two decimals, a half either way, or with more decimals, all of which are right. */
function isRight(word: string, wanted = Number.NaN): boolean {
  const match = DECIMAL_PATTERN.exec(word)
  if (!match) return false
  const decimals = (match[1] ?? match[2] ?? '').length
  return Math.abs(Number(word) - wanted) <= (decimals <= 2 ? 0.005 : 10 ** -decimals) + TOLERANCE
}
