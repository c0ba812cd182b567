/** Sorts and filters the tasks of a run: worst, best, stuck and moving ones. */
import { mean } from './chart-data.js'

/** A task counts as stuck if it is below SOLVED and neither its mean nor its mean difficulty moved by STILL over the last third. */
const SOLVED = 0.9
const STILL = 0.05
/** Fewer known values than this say nothing about a trend. */
const MIN_KNOWN = 6

/** The names of the orders, in the order of the menu. */
export const ORDERS = { worst: 'Worst first', best: 'Best first', stuck: 'Stuck', movers: 'Movers', name: 'Name' }

/**
 * The rows that match, in `order`. `rows`: [{ task, cells }], cells from oldest to newest, null without data. `categories` maps a
 * task to its category, `difficulties` to its cells of difficulty.
 */
export function arrangeRows(rows, { order = 'worst', find = '', category = '', categories = {}, difficulties = {} }) {
  const wanted = find.split(',').map((name) => name.trim().toLowerCase().replaceAll(' ', '_'))
  const isFound = (task) => wanted.some((name) => (name !== '' || wanted.length === 1) && task.includes(name))
  const shown = rows
    .filter(({ task }) => isFound(task) && (category === '' || categories[task] === category))
    .map((row) => ({ ...row, last: getLastValue(row.cells), change: computeChange(row.cells) }))
  const byName = (a, b) => (a.task < b.task ? -1 : 1)
  const rank = {
    worst: (a, b) => (a.last ?? 2) - (b.last ?? 2),
    best: (a, b) => (b.last ?? -2) - (a.last ?? -2),
    stuck: (a, b) => (a.last ?? 2) - (b.last ?? 2),
    movers: (a, b) => Math.abs(b.change ?? 0) - Math.abs(a.change ?? 0),
  }[order]
  const kept = order === 'stuck' ? shown.filter(({ task, cells }) => isStuck(cells, difficulties[task])) : shown
  return kept.toSorted((a, b) => rank?.(a, b) || byName(a, b))
}

/** Whether the values neither moved over the last third nor are solved. A task that becomes harder is not stuck. */
export function isStuck(cells, difficulty = []) {
  const [now, before] = meansOfThirds(cells)
  const [harder, easier] = meansOfThirds(difficulty)
  return now < SOLVED && Math.abs(now - before) < STILL && !(Math.abs(harder - easier) >= STILL)
}

/** The means of the last third of the known values and of the third before it; NaN with too few of them. */
function meansOfThirds(cells) {
  const known = cells.filter((cell) => cell !== null)
  if (known.length < MIN_KNOWN) return [Number.NaN, Number.NaN]
  const third = Math.floor(known.length / 3)
  return [mean(known.slice(-third)), mean(known.slice(-2 * third, -third))]
}

/** The mean of the last third less that of the first, or null with too few values. */
export function computeChange(cells) {
  const known = cells.filter((cell) => cell !== null)
  if (known.length < 2) return null
  const third = Math.max(1, Math.floor(known.length / 3))
  return mean(known.slice(-third)) - mean(known.slice(0, third))
}

function getLastValue(cells) {
  return cells.findLast((cell) => cell !== null) ?? null
}
