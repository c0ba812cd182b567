/** The samples of an eval. */

import { useResource } from '../data-hooks.js'
import { formatCount, formatDecimal, humanize } from '../format.js'
import { html, useMemo, useState } from '../html.js'
import { readNdjson } from '../streams.js'
import { Chip, EmptyState, ErrorMessage, Loading, Panel } from './common.js'
import { CompletionText, getRolloutText, VerdictChips } from './completion.js'
import { Question } from './question.js'

/** More would be slow to display. `GET /eval/{id}/samples` returns all. */
const MAX_SAMPLES = 2000
const PAGE_SIZE = 25

const SAMPLE_FILTERS = {
  all: () => true,
  right: ({ score }) => score >= 0.99,
  wrong: ({ score }) => score !== null && score < 0.99,
  faults: ({ fault }) => fault !== null && fault !== undefined,
  unscored: ({ status }) => status !== 'scored',
}

export function SamplesPanel({ path, tasks }) {
  const load = (at, options) => readNdjson(at, { ...options, most: MAX_SAMPLES })
  const { value: samples, problem } = useResource(`${path}/samples`, { load })
  const [task, setTask] = useState('')
  const [kind, setKind] = useState('all')
  const [shown, setShown] = useState(PAGE_SIZE)
  const fitting = useMemo(
    () => (samples ?? []).filter((sample) => (task === '' || sample.task === task) && SAMPLE_FILTERS[kind](sample)),
    [samples, task, kind],
  )
  return html`<${Panel} title="Samples">
    <div class="filters">
      <label>Task<select value=${task} onChange=${({ target }) => setTask(target.value)}>
        <option value="">all</option>${tasks.map((name) => html`<option value=${name}>${humanize(name)}</option>`)}
      </select></label>
      <label>Show<select value=${kind} onChange=${({ target }) => setKind(target.value)}>
        ${Object.keys(SAMPLE_FILTERS).map((name) => html`<option>${name}</option>`)}
      </select></label>
      ${samples && html`<span class="end" role="status">${formatCount(fitting.length)} of ${formatCount(samples.length)}${samples.length >= MAX_SAMPLES ? ' (the first samples of the eval)' : ''}</span>`}
    </div>
    ${problem && html`<${ErrorMessage} problem=${problem} absent="This server does not support listing samples." />`}
    ${!samples && !problem && html`<${Loading} />`}
    ${samples && fitting.length === 0 && html`<${EmptyState}>No sample matches the filters.<//>`}
    <div class="groups">${fitting.slice(0, shown).map((sample) => html`<${Sample} key=${sample.sample_id} sample=${sample} />`)}</div>
    ${fitting.length > shown && html`<p class="more"><button type="button" onClick=${() => setShown(shown + PAGE_SIZE)}>More samples</button></p>`}
  <//>`
}

function Sample({ sample }) {
  const [open, setOpen] = useState(false)
  return html`<details class="group" onToggle=${(event) => setOpen(event.target.open)}>
    <summary>
      <b>${sample.status === 'scored' ? formatDecimal(sample.score) : '–'}</b>
      <strong>${humanize(sample.task)}</strong>
      <${VerdictChips} verdict=${sample} />
      ${sample.status === 'missing' && html`<${Chip} tone="warn">missing<//>`}
      ${sample.answer !== null && sample.answer !== undefined && html`<code>${sample.answer.slice(0, 80)}</code>`}
    </summary>
    ${open && html`<${SampleDetails} sample=${sample} />`}
  </details>`
}

function SampleDetails({ sample }) {
  const { text, reasoning } = getRolloutText(sample)
  return html`
    <div class="question"><${Question} id=${sample.item_id} /></div>
    <div class="completion">
      ${sample.detail && html`<p class="soft">${sample.detail}</p>`}
      <${CompletionText} text=${text} reasoning=${sample.reasoning ?? reasoning} />
    </div>
  `
}
