/**
 * Mends the page of Swagger UI: keeps the key for the session of the tab only, as the dashboard does, links back to the
 * dashboard, collapses the tags of the second definition, and gives names to controls that have none.
 */

// Swagger UI stores keys in localStorage, where they would outlive the tab.
Object.defineProperty(window, 'localStorage', { value: sessionStorage })

const key = sessionStorage.getItem('rgs-key') // of the dashboard, see packages/dashboard/src/api.js
if (key !== null && sessionStorage.getItem('authorized') === null) {
  const bearer = { name: 'bearer', schema: { type: 'http', scheme: 'bearer' }, value: key }
  sessionStorage.setItem('authorized', JSON.stringify({ bearer }))
}

/** One tag for each trainer: a reader looks for one of them. */
const collapsedTrainers = () => ({
  statePlugins: {
    layout: {
      wrapSelectors: {
        isShown: (isShown, system) => (_state, thing, fallback) => {
          const isCollapsed = thing[0] === 'operations-tag' && system.specSelectors.url().endsWith('trainers.json')
          return isShown(thing, isCollapsed ? false : fallback)
        },
      },
    },
  },
})
const createPage = window.SwaggerUIBundle
window.SwaggerUIBundle = Object.assign((config) => {
  const folder = new URL(`${location.pathname.replace(/\/$/, '')}/`, location.href) // the page is at /docs and at /docs/
  const urls = config.urls.map(({ url, name }) => ({ url: new URL(url, folder).href, name }))
  return createPage({ ...config, urls, plugins: [...config.plugins, collapsedTrainers] })
}, createPage)

const back = document.createElement('nav')
back.className = 'back'
back.setAttribute('aria-label', 'Pages')
const link = document.createElement('a')
link.href = location.pathname.endsWith('/docs/') ? '../' : './'
link.textContent = '← Dashboard'
back.append(link)
document.getElementById('swagger-ui').before(back)

const root = document.getElementById('swagger-ui')
new MutationObserver(mend).observe(root, { childList: true, subtree: true })

function mend() {
  const skip = root.querySelector('.swagger-ui__skip-link')
  if (skip && skip.nextSibling !== back) skip.after(back) // a skip link comes before all others
  set('.info .title', 'aria-level', '1')
  set('h3.opblock-tag', 'aria-level', '2')
  set('.models h4', 'aria-level', '2')
  set('.opblock-body h4', 'aria-level', '3')
  set('.information-container', 'role', 'region')
  set('.information-container', 'aria-label', 'About this API')
  set('.topbar img', 'alt', '')
  set('.filter-container', 'role', 'search')
  set('.filter-container', 'aria-label', 'Calls')
  set('.scheme-container', 'role', 'region')
  set('.scheme-container', 'aria-label', 'Server and API key')
  set('select:not([aria-label])', 'aria-label', (element) => nameSelect(element))
  set('input:not([aria-label]):not([id])', 'aria-label', (element) => element.placeholder || 'Value')
  set('textarea:not([aria-label])', 'aria-label', () => 'Request body')
  // A link in a button is not allowed. Clicking the button sets the address as well.
  for (const inner of root.querySelectorAll('.opblock-summary-control a[href]')) inner.removeAttribute('href')
}

function set(selector, name, value) {
  for (const element of root.querySelectorAll(selector)) {
    const wanted = typeof value === 'string' ? value : value(element)
    if (element.getAttribute(name) !== wanted) element.setAttribute(name, wanted)
  }
}

function nameSelect(select) {
  if (select.id === 'servers') return 'Server'
  if (select.closest('.examples-select')) return 'Example'
  return select.closest('[data-param-name]')?.dataset.paramName ?? 'Media type'
}
