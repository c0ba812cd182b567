/** Checks that run in the page, as expressions: what is wider than the page, and columns with a score that are out of sight. */

export const findOverflow = `(() => {
  const over = document.documentElement.scrollWidth - innerWidth
  return over > 0 ? ['the page is ' + over + ' px wider than the window'] : []
})()`

/** A column that carries a score must neither be cut by the edge of its container nor be dropped. */
export const findCutColumns = `(() => {
  const SCORE = /^(mean |last )?(score|reward|accuracy|result|difference)\\b/i
  const cut = []
  for (const table of document.querySelectorAll('main table')) {
    if (table.closest('.unseen') || table.getClientRects().length === 0) continue
    const box = (table.closest('.table') ?? table.parentElement).getBoundingClientRect()
    for (const cell of table.querySelectorAll('thead th')) {
      const name = cell.textContent.trim()
      if (!SCORE.test(name)) continue
      const { left, right, width } = cell.getBoundingClientRect()
      if (width === 0) cut.push('the column “' + name + '” is dropped')
      else if (right > Math.min(box.right, innerWidth) + 1 || left < box.left - 1) cut.push('the column “' + name + '” is cut')
    }
  }
  return cut
})()`
