/** The effective settings of a run. */
import { html } from '../html.js'

/** The settings to list first. */
const PINNED_SETTINGS = [
  'seed',
  'tasks',
  'group_size',
  'batch_size',
  'complexity_mode',
  'curriculum_target_accuracy',
  'curriculum_start',
  'extraction',
  'scoring',
]

const MAX_INLINE_CHARS = 120

export function SettingsPanel({ settings }) {
  const rank = (name) => (PINNED_SETTINGS.includes(name) ? PINNED_SETTINGS.indexOf(name) : PINNED_SETTINGS.length)
  const entries = Object.entries(settings).toSorted(([a], [b]) => rank(a) - rank(b))
  return html`<dl class="pairs settings">
    ${entries.map(([name, value]) => html`<dt><code>${name}</code></dt><dd>${formatValue(value)}</dd>`)}
  </dl>`
}

/** Shows a long value in a scrollable box. */
function formatValue(value) {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > MAX_INLINE_CHARS
    ? html`<div class="text" tabindex="0" role="group" aria-label="Full value">${text}</div>`
    : html`<code>${text}</code>`
}
