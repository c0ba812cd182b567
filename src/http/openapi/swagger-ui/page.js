/**
 * Mends the page of Swagger UI: keeps the key for the session of the tab only, as the dashboard does, links back to the
 * dashboard, and gives names to controls that have none.
 */

// Swagger UI stores keys in localStorage, where they would outlive the tab.
Object.defineProperty(window, 'localStorage', { value: sessionStorage })

const key = sessionStorage.getItem('rgs-key') // of the dashboard, see packages/dashboard/src/api.js
if (key !== null && sessionStorage.getItem('authorized') === null) {
  const bearer = { name: 'bearer', schema: { type: 'http', scheme: 'bearer' }, value: key }
  sessionStorage.setItem('authorized', JSON.stringify({ bearer }))
}

const back = document.createElement('nav')
back.className = 'back'
back.setAttribute('aria-label', 'Pages')
const link = document.createElement('a')
link.href = location.pathname.endsWith('/docs/') ? '../' : './'
link.textContent = '← Dashboard'
back.append(link)
document.body.prepend(back)

const root = document.getElementById('swagger-ui')
new MutationObserver(mend).observe(root, { childList: true, subtree: true })

function mend() {
  set('.info .title', 'aria-level', '1')
  set('h3.opblock-tag', 'aria-level', '2')
  set('.models h4', 'aria-level', '2')
  set('.opblock-body h4', 'aria-level', '3')
  set('.information-container', 'role', 'region')
  set('.information-container', 'aria-label', 'About this API')
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
