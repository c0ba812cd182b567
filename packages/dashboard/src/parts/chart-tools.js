/** The tools that the charts of a group share: smoothing, scale and zoom. The address keeps them. */
import { toCsv } from '../chart-data.js'
import { formatCount, formatTime } from '../format.js'
import { setQuery, useHashRoute } from '../hooks.js'
import { html, useMemo } from '../html.js'
import { saveText } from '../save-file.js'
import { SegmentedControl } from './common.js'

/** Weights of the past in the moving average. */
const LEVELS = { '': 0, light: 0.6, medium: 0.9, strong: 0.98 }

/** `time`: x is in seconds since 1970, otherwise in whole steps. `sync`: the name of the group. */
export function useChartTools(sync, { time = false } = {}) {
  const { query } = useHashRoute()
  const [level, log, from, to] = ['smooth', 'log', 'from', 'to'].map((name) => query.get(name) ?? '')
  return useMemo(() => {
    const zoom = from !== '' && Number(from) < Number(to) ? [Number(from), Number(to)] : undefined
    return {
      sync,
      time,
      level,
      smoothing: LEVELS[level] ?? 0,
      log: log !== '',
      zoom,
      setZoom: (range) => {
        const [first, last] = range ?? ['', '']
        setQuery({ from: range ? Math.floor(first) : '', to: range ? Math.ceil(last) : '' })
      },
    }
  }, [sync, time, level, log, from, to])
}

/** `columns`: all series of the group, for the download. `name`: of the file. */
export function ChartToolbar({ tools, columns, name }) {
  const { zoom, setZoom, level, log, time } = tools
  const place = (x) => (time ? formatTime(x * 1000) : formatCount(x))
  return html`<div class="filters toolbar">
    <${SegmentedControl}
      label="Smoothing"
      value=${level}
      options=${[['', 'Raw'], ['light', 'Light'], ['medium', 'Medium'], ['strong', 'Strong']]}
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
