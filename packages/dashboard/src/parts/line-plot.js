/** The canvas of a line chart, drawn by uPlot while it is in sight. */
import '../locale-polyfill.js' // before uPlot, which fails without it

import { formatCompact, formatDecimal } from '../format.js'
import { useColorScheme, useWidth } from '../hooks.js'
import { html, useEffect, useRef, useState } from '../html.js'
import uPlot from '../vendor/uplot.js'

const NO_MARKS = []
const FAINT = '40' // alpha of a raw line behind its smoothed one

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
    ink: resolve('--ink'),
    ground: resolve('--panel'),
  }
}

/**
 * `series`: [{ name, values, color, dashed?, faint?, band? }], `color` counts from 0, `band` is { low, high }. `zoom`: [from, to] of x, or undefined for all.
 * `sync`: the key of the group that shares its crosshair. `onCursor` receives the index at the crosshair or null. `marks`:
 * [{ at }], places on x of vertical lines, which are numbered from 1.
 */
export function LinePlot({
  x,
  series,
  band,
  marks = NO_MARKS,
  time,
  range,
  format,
  height,
  label,
  log,
  zoom,
  sync,
  onZoom,
  onCursor,
}) {
  const [box, width] = useWidth()
  const scheme = useColorScheme()
  const { seen, near } = useInSight(box)
  const plot = useRef(null)
  const latest = useRef({})
  latest.current = { zoom, onZoom, onCursor, marks }
  const many = x.length > 1 && x.at(-1) > x[0]
  const shape = [
    ...series.map(({ name, color, dashed, faint, band: own }) =>
      [name, color, dashed, faint, own !== undefined].join(),
    ),
    band?.name,
    time,
    height,
    log,
    sync,
    scheme,
    width,
  ].join(' ')
  useEffect(() => {
    if (width === 0 || !many || !seen) return undefined
    const made = new uPlot(
      buildPlotOptions({ box: box.current, width, height, series, band, time, range, format, log, sync, latest }),
      toPlotData(x, series, band, log),
      box.current,
    )
    plot.current = made
    return () => {
      made.destroy()
      plot.current = null
    }
  }, [shape, many, seen])
  useEffect(() => {
    if (near) plot.current?.setData(toPlotData(x, series, band, log))
  }, [x, series, band, zoom?.join(), near])
  useEffect(() => plot.current?.redraw(false), [marks])
  const step = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    const { current } = plot
    if (!by || !current) return
    event.preventDefault()
    const at = Math.min(x.length - 1, Math.max(0, (current.cursor.idx ?? x.length) + by))
    current.setCursor({ left: current.valToPos(x[at], 'x'), top: 0 }, true, true)
  }
  return html`<div ref=${box} class="plot" role="img" aria-label=${label} style=${{ minHeight: `${height}px` }} tabindex=${many ? 0 : null} onKeyDown=${step}>
    ${!many && html`<div class="nothing" style=${{ height: `${height}px` }}>${x.length === 0 ? 'No data yet' : 'Only one point so far'}</div>`}
  </div>`
}

/** `near`: whether the element is near the visible part of the page. `seen`: whether it has ever been. */
function useInSight(box) {
  const [state, setState] = useState({ seen: false, near: false })
  useEffect(() => {
    const turn = (entries) => {
      const near = entries.at(-1).isIntersecting
      setState(({ seen }) => ({ seen: seen || near, near }))
    }
    const observer = new IntersectionObserver(turn, { rootMargin: '200px' })
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  return state
}

/** The areas behind the lines: that of the chart, and those of its series. */
function listBands(series, band) {
  const own = series.filter((one) => one.band).map((one) => ({ ...one.band, of: one }))
  return band ? [band, ...own] : own
}

function toPlotData(x, series, band, log) {
  const edges = listBands(series, band).flatMap(({ low, high }) => [low, high])
  const lines = [...series.map(({ values }) => values), ...edges]
  return [x, ...lines.map((values) => values.map((value) => (log && !(value > 0) ? null : (value ?? null))))]
}

/** @returns {any} the options of uPlot */
function buildPlotOptions({ box, width, height, series, band, time, range, format, log, sync, latest }) {
  const colors = resolveColors(box)
  const font = `11px ${getCssVariable('--sans')}`
  const axis = { stroke: colors.soft, font, ticks: { show: false }, grid: { stroke: colors.line, width: 1 } }
  const colorOf = ({ color, faint }) => withAlpha(colors.series[color % colors.series.length], faint)
  const bands = listBands(series, band)
  return {
    width,
    height,
    legend: { show: false },
    cursor: {
      y: false,
      points: { size: 6 },
      drag: { x: latest.current.onZoom !== undefined, y: false, setScale: false },
      bind: { dblclick: () => () => latest.current.onZoom?.(undefined) },
      ...(sync && { sync: { key: sync, filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' } } }),
    },
    padding: [8, 16, 0, 0],
    scales: {
      x: { time, range: (_plot, low, high) => latest.current.zoom ?? [low, high] },
      y: log
        ? { distr: 3, range: (_plot, low, high) => [(low ?? 1) / 1.1, (high ?? 10) * 1.1] }
        : { range: (_plot, low, high) => computeRange(low, high, range) },
    },
    axes: [
      { ...axis, size: 24, space: 64, grid: { show: false }, ...(time ? { values: formatTimeTicks } : STEP_AXIS) },
      {
        ...axis,
        size: 46,
        space: log ? 20 : 32,
        values: (_plot, values) => values.map((value) => (value === null ? '' : formatAxisLabel(value, format))),
      },
    ],
    series: [
      {},
      ...series.map((one) => ({
        label: one.name,
        stroke: colorOf(one),
        width: one.faint ? 1 : 1.6,
        dash: one.dashed ? [5, 4] : undefined,
        spanGaps: true,
        points: { show: isSinglePoint, size: 5 },
      })),
      ...bands.flatMap(() => [BAND_EDGE, BAND_EDGE]),
    ],
    bands: bands.map(({ of }, k) => ({
      series: [series.length + 2 * k + 2, series.length + 2 * k + 1],
      fill: of ? colorOf({ ...of, faint: true }) : colors.band,
    })),
    hooks: {
      drawAxes: [(plot) => drawMarks(plot, latest.current.marks, colors.soft)],
      setCursor: [({ cursor }) => latest.current.onCursor?.(cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          const { left, width: selected } = plot.select
          if (selected > 4) latest.current.onZoom?.([plot.posToVal(left, 'x'), plot.posToVal(left + selected, 'x')])
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        },
      ],
    },
  }
}

function drawMarks({ ctx, bbox, scales, valToPos }, marks, color) {
  ctx.save()
  ctx.strokeStyle = color
  ctx.fillStyle = color
  ctx.font = `${10 * devicePixelRatio}px ${getCssVariable('--sans')}`
  ctx.setLineDash([3, 3])
  for (const [k, { at }] of marks.entries()) {
    if (!(at >= scales.x.min && at <= scales.x.max)) continue
    const left = valToPos(at, 'x', true)
    if (marks[k - 1]?.at !== at)
      ctx.fillText(String(k + 1), left + 3 * devicePixelRatio, bbox.top + 8 * devicePixelRatio)
    ctx.beginPath()
    ctx.moveTo(left, bbox.top)
    ctx.lineTo(left, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}

const BAND_EDGE = { stroke: 'transparent', width: 0, points: { show: false } }

/** `color`: as computed styles write it, `rgb(1, 2, 3)`. */
function withAlpha(color, faint) {
  if (!faint) return color
  const [r, g, b] = color.match(/\d+/g).map(Number)
  return `#${[r, g, b].map((part) => part.toString(16).padStart(2, '0')).join('')}${FAINT}`
}

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
  /** @type {Intl.DateTimeFormatOptions} */
  const parts = { hour: '2-digit', minute: '2-digit', ...(near && { second: '2-digit' }) }
  return values.map((value) => new Date(value * 1000).toLocaleTimeString('en-GB', parts))
}

/** A short format, because an axis has less space than the legend. */
function formatAxisLabel(value, format) {
  if (Math.abs(value) >= 1000) return new Intl.NumberFormat('en', { notation: 'compact' }).format(value)
  return format === formatDecimal ? String(Number(value.toFixed(3))) : format(value)
}
