/**
 * Divides the steps of a run into rows for a chart. A row spans a power of two of steps and begins at a multiple of it, so the
 * rows of a growing run stay the same until the run outgrows the number of rows.
 */

export interface MetricRow {
  /** First step of the row's span, and the length of the span. */
  first: number
  width: number
  /** The steps in it that have metrics, in ascending order. */
  steps: number[]
}

/** `steps` ascend. `origin` is the smallest possible step. */
export function divideIntoRows(steps: number[], maxRows: number, origin = 0): MetricRow[] {
  for (let width = 1; ; width *= 2) {
    const rows = divideByWidth(steps, width, maxRows, origin)
    if (rows) return rows
  }
}

function divideByWidth(steps: number[], width: number, maxRows: number, origin: number): MetricRow[] | undefined {
  const rows: MetricRow[] = []
  for (const step of steps) {
    const first = origin + Math.floor((step - origin) / width) * width
    const last = rows.at(-1)
    if (last?.first === first) last.steps.push(step)
    else if (rows.length === maxRows) return undefined
    else rows.push({ first, width, steps: [step] })
  }
  return rows
}
