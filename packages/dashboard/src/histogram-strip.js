/** Turns counts by bin over training into the cells of a heat strip. Needs no browser. */

/**
 * The share of each bin in its column. `columns`: counts by bin for each column. Bins outside those that `reference`, the columns of
 * all strips to compare, uses are left out; `first` is the first bin that is shown.
 */
export function prepareStrip(columns, reference = columns) {
  const used = reference.flatMap((counts) => counts.flatMap((count, bin) => (count > 0 ? [bin] : [])))
  if (used.length === 0) return { first: 0, bins: 0, shares: [] }
  const first = used.reduce((a, b) => Math.min(a, b))
  const bins = used.reduce((a, b) => Math.max(a, b)) - first + 1
  const shares = columns.map((counts) => {
    const total = counts.reduce((sum, count) => sum + count, 0)
    return Array.from({ length: bins }, (_, k) => (total === 0 ? 0 : (counts[first + k] ?? 0) / total))
  })
  return { first, bins, shares }
}
