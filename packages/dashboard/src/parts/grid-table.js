/** A grid of an answer, drawn as a table. Wrong cells are struck through and framed; cells that the puzzle gives are bold. */
import { html } from '../html.js'

const SPOKEN = {
  wrong: 'wrong',
  missing: 'missing',
  extra: 'too many',
}

/** `grid`: of answer-grid.js. */
export function GridTable({ grid: { rows, palette, binary, box }, label }) {
  return html`<div class="answer-grid" tabindex="0" role="region" aria-label=${label}>
    <table>
      <tbody>
        ${rows.map(
          (row, y) =>
            html`<tr class=${isEdge(y, box, rows.length) ? 'edge' : null}>${row.map((cell, x) => html`<${Cell} cell=${cell} isEdge=${isEdge(x, box, row.length)} color=${palette || binary ? cell.value : undefined} binary=${binary} />`)}</tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function Cell({ cell: { value, state, expected, given }, isEdge, color, binary }) {
  const marked = SPOKEN[state]
  const shown = state === 'missing' ? '?' : binary && !marked ? '' : value
  const name = [marked ? state : null, given && 'given', isEdge && 'edge'].filter(Boolean).join(' ')
  const title = marked && [marked, expected !== undefined && `expected ${expected}`].filter(Boolean).join(', ')
  return html`<td class=${name || null} title=${title || null} data-color=${color !== undefined && /^\d$/.test(color) ? color : null} data-binary=${binary ? value : null}>
    ${marked === 'wrong' || marked === 'too many' ? html`<s>${shown}</s>` : shown}${marked && html`<span class="unseen"> ${title}</span>`}
  </td>`
}

/** Whether a line between boxes follows, as in a sudoku. */
function isEdge(k, box, length) {
  return box !== undefined && (k + 1) % box === 0 && k + 1 < length
}
