/** A line chart over time or steps. Its legend shows the latest values, or those at the crosshair. */
import { canBeLogarithmic, smooth } from '../chart-data.js'
import { formatCount, formatDecimal, formatTime } from '../format.js'
import { html, useMemo, useState } from '../html.js'
import { ChartDialog } from './chart-dialog.js'
import { Help } from './help.js'
import { LinePlot } from './line-plot.js'

const NO_TOOLS = {}

/**
 * `series`: [{ name, values, dashed? }], values as long as `x`; null is a gap. `time`: x is in seconds since 1970.
 * `range`: minimum [low, high] of the y axis. `xName`: the name of the x unit. `band`: { name, low, high }, an area
 * behind the lines. `help`: what the chart shows, in a sentence. `tools`: of its group, from `useChartTools`.
 */
export function Chart({
  title,
  help,
  x,
  series,
  band,
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
  const props = { x, series: shown, band, time, range, format, log, zoom, onZoom: setZoom }
  return html`<figure class="chart">
    <figcaption>
      <h3>
        <span>${title}${log && html` <small>log scale</small>`}</span>
        ${help && html`<${Help} about=${title}>${help}<//>`}
        ${x.length > 1 && html`<button class="quiet enlarge" type="button" aria-label=${`Enlarge ${title}`} title="Enlarge, copy or download" onClick=${() => setEnlarged(true)}>⤢</button>`}
      </h3>
      ${lines.map(
        ({ name, values, color, dashed }) =>
          html`<span class="key"><i class=${dashed ? 'dashed' : null} style=${{ color: `var(--series-${(color % 5) + 1})` }}></i>${name} <b>${format(values[at === null ? findLastKnown(values) : at])}</b></span>`,
      )}
      ${band && html`<span class="key"><i style=${{ color: 'var(--band)' }}></i>${band.name} <b>${format(band.low[place])} to ${format(band.high[place])}</b></span>`}
      ${at !== null && html`<span class="key">${formatPlace(x[place], time, xName)}</span>`}
    </figcaption>
    <${LinePlot} ...${props} height=${height} label=${describeChart(title, lines, band, format)} sync=${sync} onCursor=${setAt} />
    ${enlarged && html`<${ChartDialog} title=${title} help=${help} xName=${time ? 'time' : xName} plot=${props} onClose=${() => setEnlarged(false)} />`}
  </figure>`
}

/** Adds a smoothed line to each series, and keeps the raw one faint behind it. */
function prepareSeries(series, weight) {
  const colored = series.map((one, k) => ({ ...one, color: one.color ?? k }))
  if (weight === 0) return colored
  return [
    ...colored.map((one) => ({ ...one, faint: true })),
    ...colored.map((one) => ({ ...one, values: smooth(one.values, weight) })),
  ]
}

export function formatPlace(x, time, xName) {
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
