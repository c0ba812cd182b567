/** The samples of an eval, as the view `samples` of its page: a list with filters, and one sample to read. */
import { useResource } from '../data-hooks.js'
import { isActive } from '../eval-facts.js'
import { formatCount, formatDecimal } from '../format.js'
import { addressOf, replaceAddress, useArrowKeys, useQueryField } from '../hooks.js'
import { html, useMemo } from '../html.js'
import { ErrorMessage, Loading, Panel } from '../parts/common.js'
import { QuestionText, SampleView, useQuestion, VerdictChips, VerdictSign } from '../parts/completion.js'
import { CopyButton } from '../parts/copy.js'
import { describeSearch, FilterSelect, Reader, SearchField, usePages } from '../parts/list-tools.js'

const PAGE_SIZE = 50
const KINDS = {
  all: 'all',
  wrong: 'wrong',
  right: 'right',
  faults: 'format faults',
  truncated: 'truncated',
  unscored: 'not scored',
}
const ORDERS = { worst: 'worst first', suite: 'order of the suite' }

/** `value`: the eval. `path`: of the eval in the API. `id`: the sample to show, if the address names one. */
export function EvalSamples({ value, path, id }) {
  const [task, setTask] = useQueryField('task')
  const [show, setShow] = useQueryField('show', 'all')
  const [sort, setSort] = useQueryField('sort', 'worst')
  const [q, setQ] = useQueryField('q')
  const query = new URLSearchParams({ sort, show, limit: String(PAGE_SIZE), ...(task && { task }), ...(q && { q }) })
  const list = usePages(`${path}/samples?${query}`, {
    wanted: q || show !== 'all' ? PAGE_SIZE : 0,
    countOf: ({ samples }) => samples.length,
  })
  const rows = useMemo(() => collapse(list.pages.flatMap(({ samples }) => samples)), [list.pages.length, list.value])
  const base = `#/evals/${encodeURIComponent(value.id)}/samples`
  const place = rows.findIndex(({ sample, others }) => sample.sample_id === id || others.includes(id))
  const move = (by) => {
    const row = rows[id === undefined ? 0 : place + by]
    if (row) replaceAddress(addressOf(`${base}/${row.sample.sample_id}`))
    if (place + by >= rows.length - 1) list.more()
  }
  useArrowKeys({ onPrevious: () => place > 0 && move(-1), onNext: () => move(1) })
  const reading =
    id !== undefined &&
    html`<${Sample} key=${id} path=${path} id=${id} q=${q} list=${base}
      onPrevious=${place > 0 ? () => move(-1) : null}
      onNext=${place < rows.length - 1 || list.next !== null ? () => move(1) : null} />`
  return html`<${Panel} title="Samples">
    <div class="filters tight">
      <${FilterSelect} label="Task" value=${task} any="all" options=${Object.keys(value.result?.tasks ?? {}).toSorted()} onChange=${setTask} />
      <${FilterSelect} label="Show" value=${show} options=${KINDS} onChange=${setShow} />
      <${FilterSelect} label="Order" value=${sort} options=${ORDERS} onChange=${setSort} />
      <${SearchField} label="Search" value=${q} onChange=${setQ} />
      ${isActive(value.status) && html`<button type="button" onClick=${list.reload}>Refresh</button>`}
      <span class="end soft" role="status">${list.value && describeList(list, { q, task, show })}</span>
    </div>
    <${Reader} list=${list} what="samples" empty=${`No sample matches the filters${list.next !== null ? ' so far' : ''}.`} reading=${reading}
      rows=${rows.map((row) => html`<${Row} key=${row.sample.sample_id} row=${row} base=${base} isOpen=${row.sample.sample_id === id} />`)} />
  <//>`
}

/** Samples of the same item with the same text are one row. */
function collapse(samples) {
  const rows = new Map()
  for (const sample of samples) {
    const key = sample.completion === null ? sample.sample_id : `${sample.item_id}\n${sample.completion}`
    const row = rows.get(key)
    if (!row) rows.set(key, { sample, others: [] })
    else if (row.sample.sample_id !== sample.sample_id) row.others.push(sample.sample_id)
  }
  return [...rows.values()]
}

function describeList({ pages, next }, { q, task, show }) {
  const shown = pages.reduce((sum, { samples }) => sum + samples.length, 0)
  const { total } = pages.at(-1)
  const searched = pages.reduce((sum, page) => sum + page.searched, 0)
  const isFiltered = q !== '' || task !== '' || show !== 'all'
  if (!isFiltered) return `${formatCount(shown)} of ${formatCount(total)} shown`
  return `${formatCount(shown)} found. ${describeSearch(next === null ? total : searched, total, 'samples')}`
}

function Row({ row: { sample, others }, base, isOpen }) {
  const { answer, task, status, score } = sample
  return html`<li>
    <a href=${addressOf(`${base}/${sample.sample_id}`)} aria-current=${isOpen ? 'true' : null}>
      <${VerdictSign} verdict=${sample} />
      <b>${status === 'scored' ? formatDecimal(score) : '–'}</b>
      <span class="name">${task}</span>
      ${others.length > 0 && html`<span class="soft">× ${others.length + 1}</span>`}
      <${VerdictChips} verdict=${sample} />
      ${answer !== null && answer !== undefined && html`<code><bdi>${answer.slice(0, 80)}</bdi></code>`}
    </a>
  </li>`
}

function Sample({ path, id, q, list, onPrevious, onNext }) {
  const { value: sample, problem } = useResource(`${path}/samples/${encodeURIComponent(id)}`)
  const { question, problem: trouble } = useQuestion(sample?.item_id)
  return html`<div class="reading">
    <div class="steps">
      <a href=${addressOf(list)}>All samples</a>
      <button type="button" disabled=${!onPrevious} onClick=${onPrevious} title="← or k"><span aria-hidden="true">←</span> Previous</button>
      <button type="button" disabled=${!onNext} onClick=${onNext} title="→ or j">Next <span aria-hidden="true">→</span></button>
      <span class="end"><${CopyButton} text=${location.href} what="the address of this sample">Copy link<//></span>
    </div>
    ${problem && html`<${ErrorMessage} problem=${problem} />`}
    ${!sample && !problem && html`<${Loading} />`}
    ${
      sample &&
      html`
      <h3>${sample.task} <span class="soft">${sample.sample_id}${sample.difficulty !== null ? ` · difficulty ${formatDecimal(sample.difficulty)}` : ''} · <a href=${`#/tasks/${sample.task}`}>about the task</a></span></h3>
      <details class="prompt" open><summary>Question</summary><${QuestionText} question=${question} problem=${trouble} /></details>
      <${SampleView} sample=${sample} label=${`Sample ${id}`} question=${question} q=${q} />`
    }
  </div>`
}
