/** The answer of a completion beside the expected one: as grids, as a diff, or as texts. */
import { compareGrids } from '../answer-grid.js'
import { acceptsAnyValid } from '../explain-verdict.js'
import { pluralize } from '../format.js'
import { html } from '../html.js'
import { countChanges, diffTexts } from '../text-diff.js'
import { GridTable } from './grid-table.js'

const MAX_CELLS = 2500

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
  return html`<div class="answer-side"><h4>${title}${note && html` <span class="soft">${note}</span>`}</h4>${children}</div>`
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

/** One side of a diff. What differs is marked; spaces that differ are drawn as dots. */
function DiffSide({ rows, side, label }) {
  return html`<div class="text diff" tabindex="0" role="group" aria-label=${label}>${rows.map((row) =>
    row[side] === null
      ? html`<div class="gap" aria-label="no such line">${' '}</div>`
      : html`<div>${row[side].map(({ text, same }) => (same ? text : html`<mark class=${side === 'answer' ? 'differs' : 'wanted'}>${text.replaceAll(' ', '·')}</mark>`))}${row[side].length === 0 ? ' ' : ''}</div>`,
  )}</div>`
}
