/** A heat map with a row per name and a column per time, drawn on a canvas. Screen readers get a table of the last values. */
import { useColorScheme, useWidth } from '../hooks.js'
import { html, useEffect, useRef, useState } from '../html.js'

const ROW_HEIGHT = 16

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
 * `rows`: [{ name, href?, cells: [value or null] }], cells as long as `columns`, the labels of the times.
 * `low`: the value of the palest color. The strongest color is 1.
 */
export function HeatMap({ rows, columns, label, format, low = 0 }) {
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
    const row = rows[Math.floor(offsetY / ROW_HEIGHT)]
    const column = Math.floor((offsetX / width) * columns.length)
    setAt(row && column in columns ? { row, column } : null)
  }
  return html`
    <div class="heat" role="table" aria-label=${label} tabindex="0">
      <div class="names" role="rowgroup">
        ${rows.map(
          ({ name, href, cells }) => html`<div role="row">
            <span role="rowheader"><a href=${href}>${name}</a></span>
            <span role="cell" class="unseen">${format(getLastValue(cells))}</span>
          </div>`,
        )}
      </div>
      <div ref=${box} aria-hidden="true">
        <canvas ref=${canvas} style=${{ height: `${height}px` }} onMouseMove=${point} onMouseLeave=${() => setAt(null)}></canvas>
      </div>
      <div class="lasts" aria-hidden="true">${rows.map(({ cells }) => html`<span>${format(getLastValue(cells))}</span>`)}</div>
    </div>
    <p class="soft heat-at" aria-hidden="true">
      ${at ? `${at.row.name}, ${columns[at.column]}: ${format(at.row.cells[at.column])}` : `${columns[0]} to ${columns.at(-1)}. The numbers on the right are the latest values`}
    </p>
  `
}

export function getLastValue(cells) {
  return cells.findLast((cell) => cell !== null) ?? null
}

function drawHeatMap(canvas, { rows, columns, width, height, low, dark }) {
  const scale = devicePixelRatio || 1
  canvas.width = width * scale
  canvas.height = height * scale
  const pen = canvas.getContext('2d')
  pen.scale(scale, scale)
  const step = width / columns
  rows.forEach(({ cells }, row) => {
    cells.forEach((value, column) => {
      if (value === null) return
      pen.fillStyle = getCellColor((value - low) / (1 - low), dark)
      pen.fillRect(column * step, row * ROW_HEIGHT + 1, Math.max(1, step - (step > 4 ? 1 : 0)), ROW_HEIGHT - 2)
    })
  })
}
