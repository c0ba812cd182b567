/** Rows of a run's metrics as the server merges them: how new ones continue those that a page has. */

/** The `from` that returns the last row again, which may have grown, and all newer ones. */
export function getRefreshStart(rows) {
  const last = rows.at(-1)
  return last && (last.first_step ?? last.first_group)
}

/** The rows with the newer ones, or undefined if they do not continue them, as when the server made its rows wider. */
export function continueRows(rows, newer) {
  const [last, next] = [rows.at(-1), newer[0]]
  if (!last || !next || last.width !== next.width || getRefreshStart(rows) !== getRefreshStart([next])) return undefined
  return [...rows.slice(0, -1), ...newer]
}
