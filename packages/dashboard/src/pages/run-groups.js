/** The groups of a run that the server keeps, as the view `groups` of its page: a list with filters, and one group to read. */
import { classifyVerdict } from '../explain-verdict.js'
import { formatCount, formatDecimal, humanize } from '../format.js'
import { addressOf, replaceAddress, useInterval, useQueryField } from '../hooks.js'
import { html, useRef, useState } from '../html.js'
import { Chip, Panel } from '../parts/common.js'
import { GroupView } from '../parts/group-view.js'
import { describeSearch, FilterSelect, Reader, SearchField, usePages } from '../parts/list-tools.js'

const PAGE_SIZE = 25
const REFRESH_INTERVAL_MS = 3000
const FORMAT_FAULTS = [
  'no_answer',
  'many_answers',
  'unclosed_answer',
  'unclosed_think',
  'answer_too_long',
  'invalid_answer',
]
const DESTINATION_TONES = {
  buffered: 'good',
  not_buffered: '',
  no_signal: 'warn',
  stale: 'warn',
  skipped: 'warn',
  rewound: 'warn',
}
const MAX_ANSWER_CHARS = 40
const ORDERS = { newest: 'newest first', worst: 'worst first', best: 'best first' }

/** `path`: of the run in the API. `id`: the group to show, if the address names one. */
export function RunGroups({ run, path, id }) {
  const fields = {
    task: useQueryField('task'),
    fault: useQueryField('fault'),
    destination: useQueryField('destination'),
    step: useQueryField('step'),
    q: useQueryField('q'),
    paid: useQueryField('paid'),
    sort: useQueryField('sort', 'newest'),
  }
  const filters = Object.entries(fields).flatMap(([name, [value]]) => (value === '' ? [] : [[name, value]]))
  const query = new URLSearchParams([
    ...filters.flatMap(toParameters),
    ['limit', String(PAGE_SIZE)],
    ['hardened', 'true'],
  ])
  const list = usePages(`${path}/groups?${query}`, {
    wanted: filters.length > 1 ? PAGE_SIZE : 0,
    countOf: ({ groups }) => groups.length,
  })
  const groups = list.pages.flatMap((page) => page.groups)
  const [isHovered, setHovered] = useState(false)
  const isPaused = isHovered || id !== undefined || list.pages.length > 1
  const fresh = useNewGroups(run, list, isPaused)
  const base = `#/runs/${encodeURIComponent(run.run)}/groups`
  const place = groups.findIndex(({ group_id }) => group_id === id)
  const move = (by) => {
    const group = groups[place + by]
    if (group) replaceAddress(addressOf(`${base}/${encodeURIComponent(group.group_id)}`, { rollout: '' }))
    if (place + by >= groups.length - 1) list.more()
  }
  const setStep = ({ target }) => fields.step[1](target.value.replace(/[^\d-]/g, ''))
  const reading =
    id !== undefined &&
    html`<${GroupView} key=${id} path=${path} id=${id} base=${base} q=${fields.q[0]}
      onPreviousGroup=${place > 0 ? () => move(-1) : null}
      onNextGroup=${place < groups.length - 1 || list.next !== null ? () => move(1) : null} />`
  return html`<${Panel} title="Groups">
    <div class="filters tight">
      <${FilterSelect} label="Task" value=${fields.task[0]} any="any" options=${Object.keys(run.tasks).toSorted()} onChange=${fields.task[1]} />
      <${FilterSelect} label="Format fault" value=${fields.fault[0]} any="any" options=${FORMAT_FAULTS} nameOf=${humanize} onChange=${fields.fault[1]} />
      <${FilterSelect} label="Destination" value=${fields.destination[0]} any="any" options=${Object.keys(DESTINATION_TONES)} nameOf=${humanize} onChange=${fields.destination[1]} />
      <label>Step<input inputmode="numeric" value=${fields.step[0]} onChange=${setStep} placeholder="any, or 5-8" /></label>
      <${FilterSelect} label="Order" value=${fields.sort[0]} options=${ORDERS} onChange=${fields.sort[1]} />
      ${run.settings.scoring === 'upstream' && html`<label class="check" title="Upstream scoring counts an answer as right that hardened scoring rejects"><input type="checkbox" checked=${fields.paid[0] !== ''} onChange=${({ target }) => fields.paid[1](target.checked ? 'true' : '')} />Paid, not right</label>`}
      <${SearchField} label="Search" value=${fields.q[0]} onChange=${fields.q[1]} />
    </div>
    <div class="fresh">
      <span class="soft" role="status">${list.value && describeList(list, filters.length > 1)}</span>
      ${fresh > 0 && html`<button type="button" onClick=${list.reload}>${formatCount(fresh)} new ${fresh === 1 ? 'group' : 'groups'} — show</button>`}
    </div>
    <${Reader} list=${list} what="groups" empty=${filters.length > 1 ? `No stored group matches the filters${list.next !== null ? ' so far' : ''}.` : 'No group is scored yet.'} reading=${reading} onMouseEnter=${() => setHovered(true)} onMouseLeave=${() => setHovered(false)}
      rows=${groups.map((group) => html`<${Row} key=${group.group_id} group=${group} base=${base} isOpen=${group.group_id === id} />`)} />
  <//>`
}

/** A filter as the API takes it. Steps are one, or a range such as 5-8. */
/** @param {any[]} filter */
function toParameters([name, value]) {
  if (name === 'paid') return [['paid_not_right', value]]
  const [first, last] = value.split('-')
  return name === 'step' && first && last
    ? [
        ['step', first],
        ['last_step', last],
      ]
    : [[name, name === 'step' ? first : value]]
}

/** Number of groups that were completed since the list was loaded. Loads the list again unless a reader is at work on it. */
function useNewGroups({ progress }, { value, reload }, isPaused) {
  const completed = progress.scored_groups + progress.failed_groups
  const seen = useRef({ value: undefined, completed })
  // The list may know of a group before the progress does.
  if (seen.current.value !== value) seen.current = { value, completed: Math.max(completed, value?.kept ?? 0) }
  const fresh = value ? completed - seen.current.completed : 0
  useInterval(REFRESH_INTERVAL_MS, () => fresh > 0 && !isPaused && reload())
  return isPaused ? fresh : 0
}

function describeList({ pages, next }, isFiltered) {
  const shown = pages.reduce((sum, { groups }) => sum + groups.length, 0)
  const { kept } = pages.at(-1)
  if (!isFiltered) return `${formatCount(shown)} of ${formatCount(kept)} shown`
  const searched = pages.reduce((sum, page) => sum + page.searched, 0)
  return `${formatCount(shown)} found. ${describeSearch(next === null ? Math.max(searched, shown) : searched, kept, 'groups')}`
}

/** A policy that gives one answer to every question shows here. */
function drawCommonAnswer({ text, count }) {
  return html`<span class="soft answer"><bdi><code>${text.slice(0, MAX_ANSWER_CHARS)}</code></bdi> × ${count}</span>`
}

function isPaid({ verdicts = [], hardened_scores: hardened = [] }) {
  return verdicts.some((verdict, k) => classifyVerdict({ ...verdict, hardened: hardened[k] }) === 'paid')
}

function Row({ group, base, isOpen }) {
  const { task, mean_reward, destination, verdicts = [], status } = group
  const { policy_version, matches, group_id, common_answer } = group
  return html`<li>
    <a href=${addressOf(`${base}/${encodeURIComponent(group_id)}`, { rollout: '' })} aria-current=${isOpen ? 'true' : null}>
      <b>${formatDecimal(mean_reward)}</b>
      <span class="name">${task}</span>
      <${RewardBars} verdicts=${verdicts} />
      ${common_answer && drawCommonAnswer(common_answer)}
      ${isPaid(group) && html`<${Chip} tone="bad">paid, not right<//>`}
      <${Chip} tone=${status === 'failed' ? 'bad' : (DESTINATION_TONES[destination] ?? '')}>${humanize(destination ?? status)}<//>
      <span class="soft">${[policy_version !== null && `step ${formatCount(policy_version)}`, matches && `found in ${formatCount(matches.length)}`].filter(Boolean).join(' · ')}</span>
    </a>
  </li>`
}

/** The rewards of a group as bars. */
function RewardBars({ verdicts }) {
  const low = Math.min(0, ...verdicts.map(({ reward }) => reward ?? 0))
  const heightOf = (reward) => `${Math.max(2, (18 * (Math.min(1, reward) - low)) / (1 - low))}px`
  const spoken = `${formatCount(verdicts.length)} rewards: ${verdicts.map(({ reward }) => formatDecimal(reward, 1)).join(', ')}`
  return html`<span class="spread" role="img" aria-label=${spoken}>
    ${verdicts
      .slice(0, 64)
      .map(({ status, reward, fault }) =>
        status === 'scored'
          ? html`<i class=${fault ? 'fault' : ''} style=${{ height: heightOf(reward) }}></i>`
          : html`<i class="none"></i>`,
      )}
  </span>`
}
