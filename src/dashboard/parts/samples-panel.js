/** The samples of an eval, to read. */
import { count, fixed, words } from '../format.js'
import { html, useMemo, useState } from '../html.js'
import { readLines } from '../lines.js'
import { useLoad } from '../loading.js'
import { Chip, Empty, Loading, Panel, Trouble } from './bits.js'
import { CompletionText, textOf, VerdictChips } from './completion.js'
import { Question } from './question.js'

/** More would be slow to show; GET /eval/{id}/samples has all. */
const MOST = 2000
const PAGE = 25

const KINDS = {
  all: () => true,
  right: ({ score }) => score >= 0.99,
  wrong: ({ score }) => score !== null && score < 0.99,
  faults: ({ fault }) => fault !== null && fault !== undefined,
  unscored: ({ status }) => status !== 'scored',
}

export function SamplesPanel({ path, tasks }) {
  const load = (at, options) => readLines(at, { ...options, most: MOST })
  const { value: samples, problem } = useLoad(`${path}/samples`, { load })
  const [task, setTask] = useState('')
  const [kind, setKind] = useState('all')
  const [shown, setShown] = useState(PAGE)
  const fitting = useMemo(
    () => (samples ?? []).filter((sample) => (task === '' || sample.task === task) && KINDS[kind](sample)),
    [samples, task, kind],
  )
  return html`<${Panel} title="Samples">
    <div class="filters">
      <label>Task<select value=${task} onChange=${({ target }) => setTask(target.value)}>
        <option value="">all</option>${tasks.map((name) => html`<option value=${name}>${words(name)}</option>`)}
      </select></label>
      <label>Which<select value=${kind} onChange=${({ target }) => setKind(target.value)}>
        ${Object.keys(KINDS).map((name) => html`<option>${name}</option>`)}
      </select></label>
      ${samples && html`<span class="end" role="status">${count(fitting.length)} of ${count(samples.length)}${samples.length >= MOST ? ', the first ones' : ''}</span>`}
    </div>
    ${problem && html`<${Trouble} problem=${problem} absent="This server keeps no samples." />`}
    ${!samples && !problem && html`<${Loading} />`}
    ${samples && fitting.length === 0 && html`<${Empty}>No sample fits.<//>`}
    <div class="groups">${fitting.slice(0, shown).map((sample) => html`<${Sample} key=${sample.sample_id} sample=${sample} />`)}</div>
    ${fitting.length > shown && html`<p class="more"><button type="button" onClick=${() => setShown(shown + PAGE)}>More</button></p>`}
  <//>`
}

function Sample({ sample }) {
  const [open, setOpen] = useState(false)
  return html`<details class="group" onToggle=${(event) => setOpen(event.target.open)}>
    <summary>
      <b>${sample.status === 'scored' ? fixed(sample.score) : '–'}</b>
      <strong>${words(sample.task)}</strong>
      <${VerdictChips} verdict=${sample} />
      ${sample.status === 'missing' && html`<${Chip} tone="warn">missing<//>`}
      ${sample.answer !== null && sample.answer !== undefined && html`<code>${sample.answer.slice(0, 80)}</code>`}
    </summary>
    ${open && html`<${Inside} sample=${sample} />`}
  </details>`
}

function Inside({ sample }) {
  const { text, reasoning } = textOf(sample)
  return html`
    <div class="question"><${Question} id=${sample.item_id} /></div>
    <div class="completion">
      ${sample.detail && html`<p class="soft">${sample.detail}</p>`}
      <${CompletionText} text=${text} reasoning=${sample.reasoning ?? reasoning} />
    </div>
  `
}
