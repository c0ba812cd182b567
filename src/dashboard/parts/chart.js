/** A uPlot line chart over time or steps. Its legend shows the latest values, or those at the pointer. */
import '../locale-polyfill.js' // before uPlot, which fails without it

import { formatCompact, formatCount, formatDecimal, formatTime } from '../format.js'
import { useColorScheme, useWidth } from '../hooks.js'
import { html, useEffect, useRef, useState } from '../html.js'
import uPlot from '../vendor/uplot.js'

const getCssVariable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Colors for the canvas, which cannot resolve light-dark() itself; an element does it. */
function resolveColors(element) {
  const resolve = (name) => {
    element.style.color = `var(${name})`
    const { color } = getComputedStyle(element)
    element.style.color = ''
    return color
  }
  return {
    series: [1, 2, 3, 4, 5].map((k) => resolve(`--series-${k}`)),
    line: resolve('--line'),
    soft: resolve('--soft'),
    band: resolve('--band'),
  }
}

/**
 * `series`: [{ name, values }], values as long as `x`; null is a gap. `time`: x is in seconds since 1970.
 * `range`: minimum [low, high] of the y axis. `xName`: the name of the x unit. `band`: { name, low, high }, an area
 * behind the lines.
 */
export function Chart({
  title,
  x,
  series,
  band,
  time = false,
  range,
  format = formatDecimal,
  height = 150,
  xName = 'step',
}) {
  const [box, width] = useWidth()
  const scheme = useColorScheme()
  const plot = useRef(null)
  const [at, setAt] = useState(null)
  const shape = `${series.map(({ name }) => name).join()} ${band?.name} ${time} ${height} ${scheme} ${width}`
  const many = x.length > 1
  useEffect(() => {
    if (width === 0 || !many) return undefined
    const made = new uPlot(
      buildPlotOptions({ box: box.current, width, height, series, band, time, range, format, setAt }),
      toChartData(x, series, band),
      box.current,
    )
    plot.current = made
    return () => {
      made.destroy()
      plot.current = null
    }
  }, [shape, many])
  useEffect(() => plot.current?.setData(toChartData(x, series, band)), [x, series, band])
  const place = at ?? x.length - 1
  return html`<figure class="chart">
    <figcaption>
      <h3>${title}</h3>
      ${series.map(
        ({ name, values }, k) =>
          html`<span class="key"><${Swatch} k=${k + 1} />${name} <b>${format(values[at === null ? findLastKnown(values) : at])}</b></span>`,
      )}
      ${band && html`<span class="key"><i style=${{ background: 'var(--band)' }}></i>${band.name} <b>${format(band.low[place])} to ${format(band.high[place])}</b></span>`}
      ${at !== null && html`<span class="key">${time ? formatTime(x[place] * 1000) : `${xName} ${formatCount(x[place])}`}</span>`}
    </figcaption>
    <div ref=${box} role="img" aria-label=${describeChart(title, series, band, format)} style=${{ minHeight: `${height}px` }}>
      ${!many && html`<div class="nothing" style=${{ height: `${height}px` }}>${x.length === 1 ? 'Only one point so far' : 'No data yet'}</div>`}
    </div>
  </figure>`
}

function Swatch({ k }) {
  return html`<i style=${{ background: `var(--series-${k})` }}></i>`
}

function findLastKnown(values) {
  return values.findLastIndex((value) => value !== null && value !== undefined)
}

function toChartData(x, series, band) {
  const lines = [...series.map(({ values }) => values), ...(band ? [band.low, band.high] : [])]
  return [x, ...lines.map((values) => values.map((value) => value ?? null))]
}

function describeChart(title, series, band, format) {
  const lines = series.map(({ name, values }) => `${name} ${format(values[findLastKnown(values)])}`)
  const area = band ? [`${band.name} ${format(band.low.at(-1))} to ${format(band.high.at(-1))}`] : []
  return `${title}: ${[...lines, ...area].join(', ')}`
}

function buildPlotOptions({ box, width, height, series, band, time, range, format, setAt }) {
  const colors = resolveColors(box)
  const font = `11px ${getCssVariable('--sans')}`
  const axis = { stroke: colors.soft, font, ticks: { show: false }, grid: { stroke: colors.line, width: 1 } }
  return {
    width,
    height,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    padding: [8, 16, 0, 0],
    scales: {
      x: { time },
      y: { range: (_plot, low, high) => computeRange(low, high, range) },
    },
    axes: [
      { ...axis, size: 24, space: 64, grid: { show: false }, ...(time ? { values: formatTimeTicks } : STEP_AXIS) },
      {
        ...axis,
        size: 46,
        space: 32,
        values: (_plot, values) => values.map((value) => formatAxisLabel(value, format)),
      },
    ],
    series: [
      {},
      ...series.map(({ name }, k) => ({
        label: name,
        stroke: colors.series[k % colors.series.length],
        width: 1.5,
        spanGaps: true,
        points: { show: isSinglePoint, size: 5 },
      })),
      ...(band ? [BAND_EDGE, BAND_EDGE] : []),
    ],
    ...(band && { bands: [{ series: [series.length + 2, series.length + 1], fill: colors.band }] }),
    hooks: { setCursor: [({ cursor }) => setAt(cursor.idx ?? null)] },
  }
}

const BAND_EDGE = { stroke: 'transparent', width: 0, points: { show: false } }

function computeRange(low, high, range) {
  const [least, most] = [Math.min(low ?? 0, range?.[0] ?? low ?? 0), Math.max(high ?? 1, range?.[1] ?? high ?? 1)]
  return least === most ? [least, most + 1] : [least, most + (range ? 0 : (most - least) * 0.05)]
}

/** Steps are whole numbers, and their labels have little space. */
const STEP_AXIS = {
  incrs: [1, 2, 5].flatMap((first) => Array.from({ length: 16 }, (_, k) => first * 10 ** k)).sort((a, b) => a - b),
  values: (_plot, values) => values.map((value) => (value < 10_000 ? String(value) : formatCompact(value))),
}

/** Shows the point of a series that has only one, because a line would be invisible. */
function isSinglePoint(plot, series) {
  return plot.data[series].filter((value) => value !== null).length === 1
}

/** Includes seconds if ticks are less than a minute apart. */
function formatTimeTicks(_plot, values) {
  const near = values.length > 1 && values[1] - values[0] < 60
  const parts = { hour: '2-digit', minute: '2-digit', ...(near && { second: '2-digit' }) }
  return values.map((value) => new Date(value * 1000).toLocaleTimeString('en-GB', parts))
}

/** A short format, because an axis has less space than the legend. */
function formatAxisLabel(value, format) {
  if (Math.abs(value) >= 1000) return new Intl.NumberFormat('en', { notation: 'compact' }).format(value)
  return format === formatDecimal ? String(Number(value.toFixed(3))) : format(value)
}
