/** The samples of an eval, as the view `samples` of the page of an eval. */
import { html } from '../html.js'
import { SamplesPanel } from '../parts/samples-panel.js'

/** `value`: the eval. `path`: of the eval in the API. `id`: the sample to show, if the address names one. */
export function EvalSamples({ value, path, id }) {
  return html`<${SamplesPanel} path=${path} tasks=${Object.keys(value.result?.tasks ?? {})} id=${id} />`
}
