/** The most recent groups of a run, each with its completions side by side. */
import { fetchJson } from '../api.js'
import { useResource } from '../data-hooks.js'
import { formatCount, formatDecimal, humanize, toSentence } from '../format.js'
import { html, useState } from '../html.js'
import { Chip, EmptyState, ErrorMessage, Loading, Panel } from './common.js'
import { Completion } from './completion.js'
import { Question } from './question.js'

const FORMAT_ERRORS = [
  'no_answer',
  'many_answers',
  'unclosed_answer',
  'unclosed_think',
  'answer_too_long',
  'invalid_answer',
]
const DESTINATIONS = { buffered: 'good', not_buffered: '', no_signal: 'warn', stale: 'warn', skipped: 'warn' }

export function GroupsPanel({ path, tasks }) {
  const [filter, setFilter] = useState({ task: '', fault: '', destination: '', full: '' })
  const [older, setOlder] = useState({ of: undefined, pages: [], trouble: undefined })
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ''))
  query.set('limit', '10')
  const { value, problem, reload } = useResource(`${path}/groups?${query}`)
  const choose = (name) => (event) => setFilter({ ...filter, [name]: event.target.value })
  // Older pages belong to the first page. A new filter or a refresh discards them.
  const { pages, trouble } = older.of === value ? older : { pages: [], trouble: undefined }
  const shown = [value, ...pages].filter(Boolean)
  const next = shown.at(-1)?.next_cursor ?? null
  const more = () =>
    fetchJson(`${path}/groups?${query}&cursor=${encodeURIComponent(next)}`).then(
      (page) => setOlder({ of: value, pages: [...pages, page], trouble: undefined }),
      (trouble) => setOlder({ of: value, pages, trouble }),
    )
  const groups = shown.flatMap((page) => page.groups)
  return html`<${Panel} title="Recent groups">
    <div class="filters">
      <${Select} label="Task" value=${filter.task} options=${tasks.toSorted()} onChange=${choose('task')} />
      <${Select} label="Format fault" value=${filter.fault} options=${FORMAT_ERRORS} onChange=${choose('fault')} />
      <${Select} label="Destination" value=${filter.destination} options=${Object.keys(DESTINATIONS)} onChange=${choose('destination')} />
      <label class="check"><input type="checkbox" checked=${filter.full !== ''} onChange=${(event) => choose('full')({ target: { value: event.target.checked ? 'true' : '' } })} /> Full texts</label>
      <button type="button" onClick=${reload}>Refresh</button>
    </div>
    ${problem && html`<${ErrorMessage} problem=${problem} absent="This server does not support listing groups." />`}
    ${!value && !problem && html`<${Loading} />`}
    ${value && groups.length === 0 && html`<${EmptyState}>No stored group matches the filters.<//>`}
    <div class="groups">${groups.map((group, k) => html`<${Group} key=${group.group_id} group=${group} open=${k === 0} />`)}</div>
    ${trouble && html`<${ErrorMessage} problem=${trouble} />`}
    ${next !== null && html`<p class="more"><button type="button" onClick=${more}>Older groups</button></p>`}
  <//>`
}

function Select({ label, value, options, onChange }) {
  return html`<label>${label}
    <select value=${value} onChange=${onChange}>
      <option value="">any</option>
      ${options.map((option) => html`<option value=${option}>${humanize(option)}</option>`)}
    </select>
  </label>`
}

function Group({ group, open: first }) {
  const [open, setOpen] = useState(first)
  const { task, difficulty, mean_reward, destination, verdicts = [], status } = group
  return html`<details class="group" open=${open} onToggle=${(event) => setOpen(event.target.open)}>
    <summary>
      <strong>${humanize(task)}</strong>
      ${difficulty !== null && html`<span class="soft">difficulty ${formatDecimal(difficulty)}</span>`}
      <${Chip} tone=${status === 'failed' ? 'bad' : (DESTINATIONS[destination] ?? '')}>${humanize(destination ?? status)}<//>
      <span>mean reward <b>${formatDecimal(mean_reward)}</b></span>
      <${RewardBars} verdicts=${verdicts} />
    </summary>
    ${open && html`<${GroupDetails} group=${group} />`}
  </details>`
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

function GroupDetails({ group }) {
  const { completions, verdicts = [] } = group
  return html`
    <div class="question">
      ${group.status === 'failed' && html`<p class="soft">${toSentence([humanize(group.code ?? 'failed'), group.detail].filter(Boolean).join(': '))}</p>`}
      <${Question} id=${group.item_id} />
    </div>
    ${
      completions
        ? html`<div class="beside" tabindex="0" role="region" aria-label="Completions">
          ${completions.map(
            (completion, k) =>
              html`<${Completion} index=${k} verdict=${verdicts[k]} rollout=${{ ...completion, completion: completion.text }} />`,
          )}
        </div>`
        : html`<${EmptyState}>The server no longer stores the texts of this group.<//>`
    }
  `
}
