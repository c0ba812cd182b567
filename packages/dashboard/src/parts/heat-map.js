/**
 * A heat map with a row per name and a column per time, drawn on a canvas. A cell leads to an address. Screen readers get a table of
 * the last values.
 */
import { useColorScheme, useWidth } from '../hooks.js'
import { html, useEffect, useRef, useState } from '../html.js'

/** A link of 24 px is large enough to tap. */
const ROW_HEIGHT = 24
const SHADES = 64

/** Maps a value from 0 to 1 to a color from near the background to the full accent. */
export function getCellColor(value, dark) {
  const x = Math.min(1, Math.max(0, value))
  const [from, to] = dark
    ? [
        [34, 46, 50],
        [140, 230, 224],
      ]
    : [
        [226, 238, 238],
        [10, 72, 84],
      ]
  return `rgb(${from.map((c, k) => Math.round(c + (to[k] - c) * x)).join(' ')})`
}

/** Whether the current color scheme is dark. */
export function isDarkColor() {
  const { scheme } = document.documentElement.dataset
  return scheme ? scheme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
}

/**
 * `rows`: [{ name, href?, cells: [value or null], last, note }], cells as long as `columns`, the labels of the times; `note` is the
 * number at the end of the row. `linkOf(row, column)` is the address of a cell. `low`: the value of the palest color. The strongest is 1.
 */
export function HeatMap({ rows, columns, label, format, low, linkOf }) {
  const [box, width] = useWidth()
  const scheme = useColorScheme()
  const canvas = useRef(null)
  const [at, setAt] = useState(null)
  const height = rows.length * ROW_HEIGHT
  useEffect(() => {
    if (width > 0)
      drawHeatMap(canvas.current, { rows, columns: columns.length, width, height, low, dark: isDarkColor() })
  }, [rows, columns, low, width, scheme])
  const point = ({ offsetX, offsetY }) => {
    const row = Math.floor(offsetY / ROW_HEIGHT)
    const column = Math.floor((offsetX / width) * columns.length)
    return row in rows && column in columns ? { row, column } : null
  }
  const go = (place) => {
    if (place) location.hash = linkOf(rows[place.row], place.column)
  }
  const walk = (event) => {
    if (event.key === 'Enter') return go(at)
    const [down, right] =
      { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? []
    if (down === undefined) return undefined
    event.preventDefault()
    const limit = (value, count) => Math.min(count - 1, Math.max(0, value))
    const now = at ?? { row: 0, column: columns.length - 1 - right }
    return setAt({ row: limit(now.row + down, rows.length), column: limit(now.column + right, columns.length) })
  }
  const row = at && rows[at.row]
  return html`
    <div class="heat">
      <div class="names" role="table" aria-label=${label}>
        ${rows.map(
          ({ name, href, last }) => html`<div role="row">
            <span role="rowheader"><a href=${href}>${name}</a></span>
            <span role="cell" class="unseen">${format(last)}</span>
          </div>`,
        )}
      </div>
      <div
        ref=${box}
        class="cells"
        role="application"
        aria-label="Cells. Arrow keys move, Enter opens the groups of the cell"
        tabindex="0"
        onKeyDown=${walk}
        onBlur=${() => setAt(null)}
      >
        <canvas
          ref=${canvas}
          aria-hidden="true"
          style=${{ height: `${height}px` }}
          onMouseMove=${(event) => setAt(point(event))}
          onMouseLeave=${() => setAt(null)}
          onClick=${(event) => go(point(event))}
        ></canvas>
        ${row && at.column in columns && html`<i class="at" style=${{ top: `${at.row * ROW_HEIGHT}px`, left: `${(100 * at.column) / columns.length}%`, width: `${100 / columns.length}%` }}></i>`}
      </div>
      <div class="lasts" aria-hidden="true">${rows.map(({ note }) => html`<span>${note}</span>`)}</div>
    </div>
    <p class="soft heat-at" role="status">
      ${row && at.column in columns ? `${row.name}, ${columns[at.column]}: ${format(row.cells[at.column])}` : `${columns[0]} to ${columns.at(-1)}. Click a cell to see its groups.`}
    </p>
  `
}

/** A pen for a canvas whose size is in pixels of the page. */
export function createPen(canvas, width, height) {
  const scale = devicePixelRatio || 1
  canvas.width = width * scale
  canvas.height = height * scale
  const pen = canvas.getContext('2d')
  pen.scale(scale, scale)
  return pen
}

function drawHeatMap(canvas, { rows, columns, width, height, low, dark }) {
  const pen = createPen(canvas, width, height)
  const step = width / columns
  const shades = Array.from({ length: SHADES }, (_, k) => getCellColor(k / (SHADES - 1), dark))
  rows.forEach(({ cells }, row) => {
    cells.forEach((value, column) => {
      if (value === null) return
      const share = Math.min(1, Math.max(0, (value - low) / (1 - low)))
      pen.fillStyle = shades[Math.round(share * (SHADES - 1))]
      pen.fillRect(column * step, row * ROW_HEIGHT + 1, Math.max(1, step - (step > 4 ? 1 : 0)), ROW_HEIGHT - 2)
    })
  })
}
