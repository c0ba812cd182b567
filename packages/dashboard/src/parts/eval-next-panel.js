/** What to do with an eval that has ended: read its samples, compare it, keep its report. */
import { downloadFile } from '../api.js'
import { useResource } from '../data-hooks.js'
import { modelName } from '../eval-facts.js'
import { formatTimeAgo } from '../format.js'
import { html, useState } from '../html.js'
import { ErrorMessage, Panel } from './common.js'

const MAX_OTHERS = 50

export function EvalNextPanel({ value, path }) {
  const { value: list } = useResource(`eval?suite=${encodeURIComponent(value.suite.name)}&limit=${MAX_OTHERS}`)
  const [problem, setProblem] = useState(undefined)
  const others = (list?.evals ?? []).filter((one) => isComparable(one, value))
  const save = (format, ending) => () =>
    downloadFile(`${path}/report?format=${format}`, `${value.id}.${ending}`).catch(setProblem)
  return html`<${Panel} title="What to do next">
    <div class="filters">
      <a class="button" href=${`#/evals/${value.id}/samples?show=wrong`}>Read the wrong answers</a>
      <label>Compare with<select onChange=${({ target }) => {
        if (target.value !== '') location.hash = `#/evals/compare?a=${value.id}&b=${target.value}`
      }}>
        <option value="">${others.length === 0 ? 'no other eval on these items yet' : 'select an eval'}</option>
        ${others.map((one) => html`<option value=${one.id}>${describeOther(one)}</option>`)}
      </select></label>
      <button type="button" onClick=${save('html', 'html')}>Report (HTML)</button>
      <button type="button" onClick=${save('markdown', 'md')}>Report (Markdown)</button>
    </div>
    ${problem && html`<${ErrorMessage} problem=${problem} />`}
  <//>`
}

/** Evals compare if they have the same items, which their hashes tell. A frontier eval has items of its own. */
function isComparable(one, value) {
  const same = one.suite.sha256 !== null && one.suite.sha256 === value.suite.sha256
  return same && one.id !== value.id && one.difficulty_at_half === null && one.result?.mean_score != null
}

function describeOther(one) {
  const step = one.step === null ? '' : `, step ${one.step}`
  return `${modelName(one)}${step}, ${formatTimeAgo(Date.parse(one.created_at))}`
}
