/** Line charts over time or steps: one with its legend, the same in large, and the tools that the charts of a group share. */
import { saveText } from '../api.js'
import { canBeLogarithmic, smooth, toCsv } from '../chart-data.js'
import { formatCount, formatDateTime, formatDecimal, formatTime } from '../format.js'
import { setQuery, useHashRoute } from '../hooks.js'
import { html, useEffect, useMemo, useRef, useState } from '../html.js'
import { Help, SegmentedControl } from './common.js'
import { CopyButton, copyText } from './copy.js'
import { LinePlot } from './line-plot.js'
import { DataTable } from './table.js'

const NO_TOOLS = {}
const MAX_ROWS = 100
/** The last marks have a line of text. */
const MAX_LISTED_MARKS = 12
/** Weights of the past in the moving average. */
const LEVELS = { '': 0, light: 0.6, medium: 0.9, strong: 0.98 }

/**
 * `series`: [{ name, values, dashed?, band? }], values as long as `x`; null is a gap. `time`: x is in seconds since 1970.
 * `range`: minimum [low, high] of the y axis. `xName`: the name of the x unit. `band`: { name, low, high }, an area
 * behind the lines. `marks`: [{ at, text }], numbered vertical lines at places of x, which a `MarkList` explains. `help`: what the chart
 * shows, in a sentence. `tools`: of its group, from `useChartTools`.
 */
export function Chart({
  title,
  help,
  x,
  series,
  band,
  marks,
  time = false,
  range,
  format = formatDecimal,
  height = 150,
  xName = 'step',
  tools = NO_TOOLS,
}) {
  const [at, setAt] = useState(null)
  const [enlarged, setEnlarged] = useState(false)
  const { smoothing = 0, zoom, setZoom, sync } = tools
  const shown = useMemo(() => prepareSeries(series, smoothing), [series, smoothing])
  const lines = shown.filter(({ faint }) => !faint)
  const log = tools.log === true && !band && canBeLogarithmic(series)
  const place = at ?? x.length - 1
  const props = { x, series: shown, band, marks, time, range, format, log, zoom, onZoom: setZoom }
  return html`<figure class="chart">
    <figcaption>
      <h3>
        <span>${title}${log && html` <small>log scale</small>`}</span>
        ${help && html`<${Help} about=${title}>${help}<//>`}
        ${x.length > 0 && html`<span class="key place">${formatPlace(x[place], time, xName)}</span>`}
        ${x.length > 1 && html`<button class="quiet enlarge" type="button" aria-label=${`Enlarge ${title}`} title="Enlarge, copy or download" onClick=${() => setEnlarged(true)}>⤢</button>`}
      </h3>
      <${Legend} lines=${lines} format=${format} at=${at} />
      ${band && html`<span class="key"><i style=${{ color: 'var(--band)' }}></i>${band.name} <b>${format(band.low[place])} to ${format(band.high[place])}</b></span>`}
    </figcaption>
    <${LinePlot} ...${props} height=${height} label=${describeChart(title, lines, band, format)} sync=${sync} onCursor=${setAt} />
    ${enlarged && html`<${ChartDialog} title=${title} subject=${tools.subject} help=${help} xName=${time ? 'time' : xName} plot=${props} onClose=${() => setEnlarged(false)} />`}
  </figure>`
}

/** The names of the lines with their values at the crosshair, or else the last ones that are known. */
function Legend({ lines, format, at }) {
  return lines.map(
    ({ name, values, color, dashed }) =>
      html`<span class="key"><i class=${dashed ? 'dashed' : null} style=${{ color: `var(--series-${(color % 5) + 1})` }}></i>${name} <b>${format(values[at ?? findLastKnown(values)])}</b></span>`,
  )
}

/** Adds a smoothed line to each series, and keeps the raw one faint behind it. */
function prepareSeries(series, weight) {
  const colored = series.map((one, k) => ({ ...one, color: one.color ?? k }))
  if (weight === 0) return colored
  return [
    ...colored.map((one) => ({ ...one, faint: true })),
    ...colored.map((one) => ({ ...one, values: smooth(one.values, weight), band: undefined })),
  ]
}

function formatPlace(x, time, xName) {
  return time ? formatTime(x * 1000) : `${xName} ${formatCount(x)}`
}

function findLastKnown(values) {
  return values.findLastIndex((value) => value !== null && value !== undefined)
}

function describeChart(title, series, band, format) {
  const lines = series.map(({ name, values }) => `${name} ${format(values[findLastKnown(values)])}`)
  const area = band ? [`${band.name} ${format(band.low.at(-1))} to ${format(band.high.at(-1))}`] : []
  return `${title}: ${[...lines, ...area].join(', ')}`
}

/** One chart in large, with its values as a table, and its export. `plot`: the properties of the line plot. */
function ChartDialog({ title, subject, help, xName, plot, onClose }) {
  const box = useRef(null)
  const [at, setAt] = useState(null)
  const [remark, setRemark] = useState('')
  useEffect(() => box.current.showModal(), [])
  const { x, series, time, format } = plot
  const lines = series.filter(({ faint }) => !faint)
  const file = [subject, title]
    .filter(Boolean)
    .join(' ')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
  const csv = () =>
    toCsv([
      { name: xName, values: time ? x.map((s) => new Date(s * 1000).toISOString()) : x },
      ...series.map(({ name, values, faint }) => ({ name: faint ? `${name} (raw)` : name, values })),
    ])
  const copy = async () => setRemark((await copyText(csv())) ? 'Copied' : 'The browser does not allow copying')
  const places = [...x.keys()]
  const stride = Math.ceil(x.length / MAX_ROWS)
  const label = (value) => (time ? formatDateTime(value * 1000) : formatCount(value))
  return html`<dialog class="enlarged" ref=${box} aria-label=${title} onClose=${onClose} onClick=${(event) => event.target === box.current && box.current.close()}>
    <div class="filters toolbar">
      <h2>${title}</h2>
      <button type="button" onClick=${copy}>Copy CSV</button>
      <button type="button" onClick=${() => saveText(`${file}.csv`, csv(), 'text/csv')}>Download CSV</button>
      <span class="soft" role="status">${remark}</span>
      <button class="end" type="button" onClick=${() => box.current.close()}>Close</button>
    </div>
    ${help && html`<p class="soft">${help}</p>`}
    <p class="keys">
      <${Legend} lines=${lines} format=${format} at=${at} />
      <span class="key">${time ? '' : `${xName} `}${label(x[at ?? x.length - 1])}</span>
    </p>
    <${LinePlot} ...${plot} height=${Math.max(220, Math.min(460, innerHeight - 320))} label=${title} onCursor=${setAt} />
    <details>
      <summary>Values${stride > 1 ? `, every ${formatCount(stride)}th` : ''}</summary>
      <${DataTable} label=${`Values of ${title}`} rows=${places.filter((k) => k % stride === 0 || k === places.length - 1)} columns=${[
        [xName, (k) => label(x[k])],
        ...lines.map(({ name, values }) => [name, (k) => format(values[k]), 'num']),
      ]} />
    </details>
  </dialog>`
}

/** Says what the numbered marks of the charts are. `marks`: [{ at, text, tone?, href? }]. */
export function MarkList({ marks, time = false, xName = 'step' }) {
  if (marks.length === 0) return null
  const hidden = Math.max(0, marks.length - MAX_LISTED_MARKS)
  return html`<ol class="marks" aria-label="Marks" start=${hidden + 1}>
    ${marks.slice(hidden).map(({ at, text, tone = '', href, rewind }) => html`<li class=${tone}>${formatPlace(at, time, xName)}: ${href ? html`<a href=${href}>${text}</a>` : text} ${rewind && html`<${CopyButton} text=${rewind}>Copy the rewind command<//>`}</li>`)}
  </ol>`
}

/** `time`: x is in seconds since 1970, otherwise in whole steps. `sync`: the name of the group. `subject`: what downloaded files name. */
export function useChartTools(sync, { time = false, subject = '' } = {}) {
  const { query } = useHashRoute()
  const [level, log, from, to] = ['smooth', 'log', 'from', 'to'].map((name) => query.get(name) ?? '')
  return useMemo(() => {
    const zoom = from !== '' && Number(from) < Number(to) ? [Number(from), Number(to)] : undefined
    return {
      sync,
      time,
      subject,
      level,
      smoothing: LEVELS[level] ?? 0,
      log: log !== '',
      zoom,
      setZoom: (range) => {
        const [first, last] = range ?? ['', '']
        setQuery({ from: range ? Math.floor(first) : '', to: range ? Math.ceil(last) : '' })
      },
    }
  }, [sync, time, subject, level, log, from, to])
}

/** `columns`: all series of the group, for the download. `name`: of the file. */
export function ChartToolbar({ tools, columns, name }) {
  const { zoom, setZoom, level, log, time } = tools
  const place = (x) => (time ? formatTime(x * 1000) : formatCount(x))
  return html`<div class="filters toolbar">
    <${SegmentedControl}
      label="Smoothing"
      value=${level}
      options=${{ '': 'Raw', light: 'Light', medium: 'Medium', strong: 'Strong' }}
      onChange=${(value) => setQuery({ smooth: value })}
    />
    <label class="check" title="Applies to charts whose values are all above 0"><input type="checkbox" checked=${log} onChange=${(event) => setQuery({ log: event.currentTarget.checked ? '1' : '' })} /> Log scale</label>
    ${
      zoom
        ? html`<button type="button" onClick=${() => setZoom(undefined)}>${time ? 'From' : 'Steps'} ${place(zoom[0])} to ${place(zoom[1])} · reset</button>`
        : html`<span class="soft hint">Drag across a chart to zoom</span>`
    }
    <button class="quiet end" type="button" onClick=${() => saveText(`${name}.csv`, toCsv(columns), 'text/csv')}>Download all as CSV</button>
  </div>`
}
