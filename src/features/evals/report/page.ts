/** Builds the parts that reports share: a self-contained page with its style, lists and tables. */
import { escapeHtml } from './chart.ts'

const STYLESHEET = `
:root{color-scheme:light dark;--ink:#1c2128;--soft:#57606a;--line:#d0d7de;--bar:#4c78a8;--error:#1c2128;--back:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--line:#3d444d;--bar:#5b8fc7;--error:#e6edf3;--back:#0d1117}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}table{border-collapse:collapse;width:100%;font-size:.88rem}
th,td{padding:.25rem .5rem;border-bottom:1px solid var(--line);text-align:right}th:first-child,td:first-child{text-align:left}
.wide{overflow-x:auto}svg{max-width:100%;height:auto;font:12px system-ui,sans-serif}svg text{fill:var(--ink)}
svg .tick,svg .note{fill:var(--soft)}.grid{stroke:var(--line)}.bar{fill:var(--bar)}.error{stroke:var(--error);stroke-width:1.4;fill:none}
.big{font-size:2.2rem;font-weight:600}.verdict{font-size:1.4rem;font-weight:600}.warning{border-left:4px solid #d29922;padding:.2rem .8rem;margin:.6rem 0}
pre{overflow-x:auto;font-size:.82rem;border:1px solid var(--line);padding:.8rem;border-radius:6px}`

/** Renders the page; `body` is HTML. */
export function renderPage(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title><style>${STYLESHEET}</style></head><body>
<h1>${escapeHtml(title)}</h1>${body}</body></html>\n`
}

export function renderDefinitionList(rows: Record<string, string>): string {
  const cells = Object.entries(rows).map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`)
  return `<dl>${cells.join('')}</dl>`
}

export function renderWarning(text: string): string {
  return `<p class="warning">${escapeHtml(text)}</p>`
}

export function renderRows(heads: readonly string[], rows: readonly string[][]): string {
  const head = heads.map((name) => `<th>${escapeHtml(name)}</th>`).join('')
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`)
  return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table></div>`
}
