/** The frame of the dashboard: navigation, color scheme, API key, and the page for the current address. */
import { KeyDialog } from './caller.js'
import { useHashRoute } from './hooks.js'
import { html, render, useEffect, useRef, useState } from './html.js'
import { ComparePage } from './pages/compare.js'
import { CompareRunsPage } from './pages/compare-runs.js'
import { EvalPage } from './pages/eval.js'
import { EvalsPage } from './pages/evals.js'
import { HealthBanner, OverviewPage } from './pages/overview.js'
import { RunPage } from './pages/run.js'
import { RunsPage } from './pages/runs.js'
import { TaskPage } from './pages/task.js'
import { TasksPage } from './pages/tasks.js'
import { EmptyState, PageHeader, Panel } from './parts/common.js'

const SCHEMES = ['system', 'light', 'dark']
const STORAGE_KEY = 'rgs-scheme'

/** @type {Record<string, { name: string, page: any, one?: any, views?: string[] }>} */
const PAGES = Object.assign(Object.create(null), {
  // no inherited names such as `constructor`
  overview: { name: 'Overview', page: OverviewPage },
  tasks: { name: 'Tasks', page: TasksPage, one: TaskPage },
  runs: { name: 'Runs', page: RunsPage, one: RunPage, views: ['groups', 'rescore', 'settings'] },
  evals: { name: 'Evals', page: EvalsPage, one: EvalPage, views: ['samples'] },
})

/**
 * `#/SECTION`, `#/SECTION/NAME`, `#/SECTION/NAME/VIEW` or `#/SECTION/NAME/VIEW/ID`.
 * @param {string[]} parts
 * @param {URLSearchParams} query
 */
function resolvePage(parts, query) {
  const [section = 'overview', name, view, id, ...rest] = parts
  if (section === 'compare' && name === undefined) return html`<${CompareRunsPage} />`
  const { page, one, views = [] } = PAGES[section] ?? { page: undefined }
  const unknown = !page || (name !== undefined && !one) || (view !== undefined && !views.includes(view))
  if (unknown || rest.length > 0 || [name, id].some(isDotSegment)) return html`<${NotFoundPage} />`
  if (section === 'evals' && name === 'compare')
    return html`<${ComparePage} a=${query.get('a') ?? ''} b=${query.get('b') ?? ''} />`
  return name === undefined ? html`<${page} />` : html`<${one} key=${name} name=${name} view=${view} id=${id} />`
}

/** Browsers resolve dot segments in any spelling, so a request for such a name would go to another path. */
function isDotSegment(name) {
  return name === '.' || name === '..'
}

function App() {
  const { parts, query } = useHashRoute()
  const section = parts[0] ?? 'overview'
  const main = useRef(null)
  const place = parts.slice(0, 3).join('/') // the entry of a view that is read is no page of its own
  const first = useRef(true)
  useEffect(() => {
    document.title = [parts[1], PAGES[section]?.name, 'reasoning-gym-server'].filter(Boolean).join(' · ')
    if (first.current) first.current = false
    else {
      scrollTo(0, 0)
      main.current.querySelector('h1')?.focus() // so that screen readers announce the new page
    }
  }, [place])
  return html`
    <a class="skip" href="#content" onClick=${(event) => focusMain(event, main)}>Skip to content</a>
    <header class="top">
      <div>
        <a class="brand" href="#/"><img src="dashboard/icon.svg" alt="" />reasoning-gym-server</a>
        <nav aria-label="Pages">
          ${Object.entries(PAGES).map(
            ([key, { name }]) =>
              html`<a href=${`#/${key === 'overview' ? '' : key}`} aria-current=${(section === 'compare' ? 'runs' : section) === key ? 'page' : null}>${name}</a>`,
          )}
        </nav>
        <div class="tools">
          <a href="docs">API</a>
          <${ColorSchemeButton} />
          <${KeyDialog} />
        </div>
      </div>
    </header>
    <main id="content" ref=${main} tabindex="-1">
      ${section !== 'overview' && html`<${HealthBanner} />`}
      ${resolvePage(parts, query)}
    </main>
  `
}

function focusMain(event, main) {
  event.preventDefault() // the hash names the page
  main.current.focus()
}

function NotFoundPage() {
  return html`
    <${PageHeader} title="Page not found" />
    <${Panel}><${EmptyState}>
      There is no page at <code>${location.hash}</code>. Go to the <a href="#/">overview</a>, the
      ${' '}<a href="#/tasks">tasks</a>, the <a href="#/runs">runs</a> or the <a href="#/evals">evals</a>.
    <//><//>
  `
}

/** Switches between the light, dark and system color schemes. */
function ColorSchemeButton() {
  const [scheme, setScheme] = useState(() => localStorage.getItem(STORAGE_KEY) ?? 'system')
  useEffect(() => {
    const { dataset } = document.documentElement
    if (scheme === 'system') delete dataset.scheme
    else dataset.scheme = scheme
    localStorage.setItem(STORAGE_KEY, scheme)
    dispatchEvent(new Event('scheme'))
  }, [scheme])
  const next = SCHEMES[(SCHEMES.indexOf(scheme) + 1) % SCHEMES.length]
  return html`<button
    class="quiet"
    type="button"
    title=${`Color scheme: ${scheme}. Switch to ${next}.`}
    aria-label=${`Color scheme: ${scheme}. Switch to ${next}`}
    onClick=${() => setScheme(next)}
  >
    ${{ system: '◐', light: '○', dark: '●' }[scheme]}
  </button>`
}

render(html`<${App} />`, document.body)
