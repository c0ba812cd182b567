/** The answer of a completion beside the expected one: as grids, as a diff, or as texts. */
import { compareGrids } from '../answer-grid.js'
import { acceptsAnyValid } from '../explain-verdict.js'
import { pluralize } from '../format.js'
import { html, useEffect, useRef } from '../html.js'
import { countChanges, diffTexts } from '../text-diff.js'

const MAX_CELLS = 2500

const SPOKEN = {
  wrong: 'wrong',
  missing: 'missing',
  extra: 'too many',
}
/** The colors that the digits of a puzzle stand for, each with the color of its text. */
const PALETTE = [
  ['#111', '#fff'],
  ['#1e66d0', '#fff'],
  ['#d63a2f', '#fff'],
  ['#2e9e44', '#000'],
  ['#e0b000', '#000'],
  ['#8a8a8a', '#000'],
  ['#c42fa0', '#fff'],
  ['#e06f10', '#000'],
  ['#4fb3e8', '#000'],
  ['#7d1f2b', '#fff'],
]

/** `kind`: of explain-verdict.js. `question`: tells the given cells of a puzzle. */
export function AnswerView({ task, answer, expected, question, kind }) {
  const isKnown = expected !== null && expected !== undefined
  const expectedTitle = acceptsAnyValid(task) ? 'An accepted answer' : 'Expected answer'
  if (answer === null || answer === undefined)
    return html`<div class="answers">
      <${Side} title="Extracted answer"><p class="soft">none</p><//>
      ${isKnown && html`<${Side} title=${expectedTitle}><${ExpectedGrid} task=${task} expected=${expected} question=${question} /><//>`}
    </div>`
  const isRight = kind === 'right'
  const grid = compareGrids(task, { answer, expected, question, isRight })
  if (grid && grid.total <= MAX_CELLS)
    return html`<div class="answers">
      <${Side} title="Extracted answer" note=${describeGrid(grid, isRight, isKnown)}><${GridTable} grid=${grid} label="Extracted answer" /><//>
      ${isKnown && (!isRight || answer.trim() !== expected.trim()) && html`<${Side} title=${expectedTitle}><${ExpectedGrid} task=${task} expected=${expected} question=${question} /><//>`}
    </div>`
  if (!isKnown || isRight || acceptsAnyValid(task))
    return html`<div class="answers">
      <${Side} title="Extracted answer"><${Text} label="Extracted answer" text=${answer} /><//>
      ${isKnown && (!isRight || answer.trim() !== expected.trim()) && html`<${Side} title=${expectedTitle}><${Text} label=${expectedTitle} text=${expected} /><//>`}
    </div>`
  const rows = diffTexts(expected, answer)
  return html`<div class="answers">
    <${Side} title="Extracted answer" note=${`${pluralize(countChanges(rows), 'character')} differ`}><${DiffSide} rows=${rows} side="answer" label="Extracted answer" /><//>
    <${Side} title="Expected answer"><${DiffSide} rows=${rows} side="expected" label="Expected answer" /><//>
  </div>`
}

function Side({ title, note, children }) {
  return html`<div class="answer-side"><h3>${title}${note && html` <span class="soft">${note}</span>`}</h3>${children}</div>`
}

function Text({ label, text }) {
  return html`<div class="text" tabindex="0" role="group" aria-label=${label}>${text === '' ? '(empty)' : text}</div>`
}

function ExpectedGrid({ task, expected, question }) {
  const grid = compareGrids(task, { answer: expected, expected: undefined, question, isRight: true })
  return grid && grid.total <= MAX_CELLS
    ? html`<${GridTable} grid=${grid} label="Expected answer" />`
    : html`<${Text} label="Expected answer" text=${expected} />`
}

function describeGrid({ wrong, total, note }, isRight, isKnown) {
  if (isRight) return null
  const marked = wrong > 0 ? `${pluralize(wrong, 'cell')} of ${total} marked` : isKnown ? 'no cell stands out' : null
  return [marked, note].filter(Boolean).join('. ') || null
}

/** One side of a diff, from the first difference on. What differs is marked; spaces that differ are drawn as dots. */
function DiffSide({ rows, side, label }) {
  const box = useRef(null)
  useEffect(() => {
    const first = box.current.querySelector('mark, .gap')
    const below = first ? first.getBoundingClientRect().top - box.current.getBoundingClientRect().top : 0
    box.current.scrollTop += below - box.current.clientHeight / 3
  }, [])
  return html`<div class="text diff" ref=${box} tabindex="0" role="group" aria-label=${label}>${rows.map((row) =>
    row[side] === null
      ? html`<div class="gap" aria-label="no such line">${' '}</div>`
      : html`<div>${row[side].map(({ text, same }) => (same ? text : html`<mark class=${side === 'answer' ? 'differs' : 'wanted'}>${text.replaceAll(' ', '·')}</mark>`))}${row[side].length === 0 ? ' ' : ''}</div>`,
  )}</div>`
}

/** `grid`: of answer-grid.js. Wrong cells are struck through and framed; cells that the puzzle gives are bold. */
function GridTable({ grid: { rows, palette, binary, box }, label }) {
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
  const digit = /^\d$/.test(color) ? color : null
  const [ground, ink] = PALETTE[digit] ?? []
  return html`<td class=${name || null} title=${title || null} style=${{ '--cell': ground, '--cell-ink': ink }} data-color=${digit} data-binary=${binary ? value : null}>
    ${marked === 'wrong' || marked === 'too many' ? html`<s>${shown}</s>` : shown}${marked && html`<span class="unseen"> ${title}</span>`}
  </td>`
}

/** Whether a line between boxes follows, as in a sudoku. */
function isEdge(k, box, length) {
  return box !== undefined && (k + 1) % box === 0 && k + 1 < length
}
