/** One chart in large, with its values as a table, and its export. */
import { toCsv } from '../chart-data.js'
import { formatCount, formatDateTime } from '../format.js'
import { html, useEffect, useRef, useState } from '../html.js'
import { copyText, saveBlob, saveText } from '../save-file.js'
import { LinePlot } from './line-plot.js'
import { Table } from './table.js'

const MAX_ROWS = 100

/** `plot`: the properties of the line plot. */
export function ChartDialog({ title, help, xName, plot, onClose }) {
  const box = useRef(null)
  const [at, setAt] = useState(null)
  const [remark, setRemark] = useState('')
  useEffect(() => box.current.showModal(), [])
  const { x, series, time, format } = plot
  const lines = series.filter(({ faint }) => !faint)
  const file = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  const csv = () =>
    toCsv([
      { name: xName, values: time ? x.map((s) => new Date(s * 1000).toISOString()) : x },
      ...series.map(({ name, values, faint }) => ({ name: faint ? `${name} (raw)` : name, values })),
    ])
  const savePng = () => box.current.querySelector('canvas').toBlob((blob) => saveBlob(`${file}.png`, blob))
  const copy = async () => setRemark((await copyText(csv())) ? 'Copied' : 'The browser does not allow copying')
  const stride = Math.ceil(x.length / MAX_ROWS)
  const label = (value) => (time ? formatDateTime(value * 1000) : formatCount(value))
  return html`<dialog class="enlarged" ref=${box} aria-label=${title} onClose=${onClose} onClick=${(event) => event.target === box.current && box.current.close()}>
    <div class="filters">
      <h2>${title}</h2>
      <button type="button" onClick=${copy}>Copy CSV</button>
      <button type="button" onClick=${() => saveText(`${file}.csv`, csv(), 'text/csv')}>CSV</button>
      <button type="button" onClick=${savePng}>PNG</button>
      <span class="soft" role="status">${remark}</span>
      <button class="end" type="button" onClick=${() => box.current.close()}>Close</button>
    </div>
    ${help && html`<p class="soft">${help}</p>`}
    <p class="keys">
      ${lines.map(({ name, values, color, dashed }) => html`<span class="key"><i class=${dashed ? 'dashed' : null} style=${{ color: `var(--series-${(color % 5) + 1})` }}></i>${name} <b>${format(values[at ?? x.length - 1])}</b></span>`)}
      <span class="key">${time ? '' : `${xName} `}${label(x[at ?? x.length - 1])}</span>
    </p>
    <${LinePlot} ...${plot} height=${Math.max(220, Math.min(460, innerHeight - 320))} label=${title} onCursor=${setAt} />
    <details>
      <summary>Values${stride > 1 ? `, every ${formatCount(stride)}th` : ''}</summary>
      <${Table} label=${`Values of ${title}`}>
        <thead><tr><th>${xName}</th>${lines.map(({ name }) => html`<th class="num">${name}</th>`)}</tr></thead>
        <tbody>
          ${x.map((value, k) => (k % stride === 0 || k === x.length - 1) && html`<tr><th scope="row">${label(value)}</th>${lines.map(({ values }) => html`<td class="num">${format(values[k])}</td>`)}</tr>`)}
        </tbody>
      <//>
    </details>
  </dialog>`
}
