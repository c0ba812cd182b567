/** pool_matrix: two decimals are rounded rather than right to one percent, and a row is no column. */
import { z } from 'zod'
import { splitWhitespace, strip } from '../python/text.ts'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({
  matrix: z.array(z.array(z.int())),
  pool_type: z.enum(['average', 'max']),
  pool_size: z.int(),
})
type Pooling = z.infer<typeof Metadata>
const Sizes = z.looseObject({ rows: z.int(), cols: z.int(), pool_size: z.int() })

const DECIMAL_PATTERN = /^(?:\d+(?:\.(\d*))?|\.(\d+))$/
/** More than a float loses, less than any mean is from another. */
const TOLERANCE = 1e-9

export const poolMatrix: Correction = {
  reason:
    'Elements within one percent are paid though two decimals are asked for, and a row for a column; the question does not say how regions at the edges are pooled.',
  decide({ entry }) {
    const wanted = pool(Metadata.parse(entry.metadata))
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
