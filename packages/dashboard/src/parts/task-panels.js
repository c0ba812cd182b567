/** What is known of a task: its card, with measurements of the selected rung and curves over all rungs, and the fields of its config. */
import { formatCount, formatDecimal, formatDuration } from '../format.js'
import { html, useMemo } from '../html.js'
import { Chart } from './chart.js'
import { Panel, SegmentedControl, StatTiles, Tile } from './common.js'
import { DataTable } from './table.js'

/** @type {[name: string, read: (card: any, scoring: string) => number][]} */
const CURVES = [
  ['guess floor', (card, scoring) => card.guess_floor[scoring]],
  ['lookup floor', (card, scoring) => card.lookup_floor[scoring]],
  ['most common answer', (card) => card.prior],
  ['best attainable', (card, scoring) => card.best_attainable[scoring]],
]
const SCORINGS = { hardened: 'Hardened', upstream: 'Upstream' }

/** `rung`: counted from 0, or null for the library's defaults; `truth`: the truth table of the verifier over all rungs, once it is there. */
export function CardPanel({ card, truth, rung, scoring, onScoring }) {
  const { rungs } = card
  const shown = rung === null ? card.defaults : rungs[rung]
  const numbers = useMemo(() => rungs.map((_, k) => k + 1), [rungs])
  const curves = useMemo(() => buildCurves(rungs, scoring), [rungs, scoring])
  const distinct = useMemo(
    () => [{ name: 'distinct questions', values: rungs.map((each) => each?.distinct_in_1000 ?? null) }],
    [rungs],
  )
  return html`<${Panel}
    title="Task card"
   
    about=${`Measurements of this task with version ${card.engine_version} of the library, at ${rung === null ? 'the library defaults' : `rung ${rung + 1}`}. The floors are the mean scores of answers that do not solve the item: guessing, and copying the answer of a similar item.`}
  >
    <div class="row"><${SegmentedControl} label="Scoring" value=${scoring} options=${SCORINGS} onChange=${onScoring} /></div>
    ${shown ? html`<${CardTiles} card=${shown} truth=${truth?.[scoring]} scoring=${scoring} />` : html`<p class="soft">There are no measurements for this config.</p>`}
    ${
      rungs.length > 1 &&
      html`<div class="charts">
        <${Chart} title="Mean score by rung" x=${numbers} xName="rung" series=${curves} range=${[0, 1]} />
        <${Chart} title="Distinct questions in 1,000, by rung" x=${numbers} xName="rung" series=${distinct} range=${[0, 1000]} format=${formatCount} />
      </div>`
    }
  <//>`
}

function buildCurves(rungs, scoring) {
  return CURVES.map(([name, read]) => ({
    name,
    values: rungs.map((card) => (card ? read(card, scoring) : null)),
  }))
}

function CardTiles({ card, truth, scoring }) {
  const error = `± ${formatDecimal(card.guess_floor_stderr[scoring])}, best guess: ${card.best_guess[scoring]}`
  return html`<${StatTiles}>
    ${truth && html`<${Tile} name="Verifier (Youden’s J)" value=${formatDecimal(truth.youden_j.value)} note=${`95%: ${formatDecimal(truth.youden_j.low)} to ${formatDecimal(truth.youden_j.high)}, all rungs`} />`}
    <${Tile} name="Guess floor" value=${formatDecimal(card.guess_floor[scoring])} note=${error} />
    <${Tile} name="Lookup floor" value=${formatDecimal(card.lookup_floor[scoring])} />
    <${Tile} name="Most common answer" value=${formatDecimal(card.prior)} />
    <${Tile} name="Best attainable" value=${formatDecimal(card.best_attainable[scoring])} />
    <${Tile} name="Distinct in 1,000" value=${formatCount(card.distinct_in_1000)} />
    <${Tile} name="Time to create" value=${formatDuration(card.make_ms / 1000)} />
  <//>`
}

/** The config fields of a task: type, bounds, default, and the value at the selected rung. */
export function ConfigTable({ schema, config }) {
  const fields = Object.entries(schema.properties ?? {})
  if (fields.length === 0) return html`<p class="soft">This task has no config fields.</p>`
  const columns = [
    ['field', drawField],
    ['type', ([, field]) => formatType(field), 'from-m'],
    ['bounds', ([, field]) => formatBounds(field), 'from-l'],
    ['default', ([, field]) => html`<code>${formatValue(field.default)}</code>`],
    config && ['at this rung', ([name]) => html`<${RungValue} value=${config[name]} />`],
  ]
  return html`<${DataTable} label="Config" rows=${fields} columns=${columns} />`
}

function RungValue({ value }) {
  return value === undefined ? html`<span class="soft">default</span>` : html`<code>${formatValue(value)}</code>`
}

function drawField([name, field]) {
  return html`<code>${name}</code><small class="until-m">${formatType(field)}</small><small class="until-l">${formatBounds(field)}</small>`
}

function formatType(field) {
  if (field.enum) return 'one of'
  if (field.anyOf) return field.anyOf.map(formatType).join(' or ')
  if (field.type === 'array') return `list of ${field.items ? formatType(field.items) : 'any'}`
  return [field.type ?? 'any'].flat().join(' or ')
}

function formatBounds(field) {
  if (field.enum) return field.enum.map(formatValue).join(', ')
  const inner = field.items && formatBounds(field.items)
  return [formatRange(field), inner].filter(Boolean).join('; ')
}

/** Distinguishes exclusive from inclusive bounds. */
function formatRange({ minimum, exclusiveMinimum, minItems, maximum, exclusiveMaximum, maxItems }) {
  const least = minimum ?? minItems
  const most = maximum ?? maxItems
  if (least !== undefined && most !== undefined) return `${least} to ${most}`
  const low =
    least !== undefined ? `at least ${least}` : exclusiveMinimum !== undefined ? `above ${exclusiveMinimum}` : ''
  const high =
    most !== undefined ? `at most ${most}` : exclusiveMaximum !== undefined ? `below ${exclusiveMaximum}` : ''
  return [low, high].filter(Boolean).join(', ')
}

function formatValue(value) {
  const text = value === undefined ? '–' : JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}
