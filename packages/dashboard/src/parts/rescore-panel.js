/** What a run's kept groups would earn under other rules: a form that starts a rescore, and the last results. */
import { fetchJson } from '../api.js'
import { NeedsRole } from '../caller.js'
import { useAction, useResource } from '../data-hooks.js'
import { formatCount, formatDecimal, pluralize } from '../format.js'
import { html, useState } from '../html.js'
import { Chip, EmptyState, ErrorMessage, Panel } from './common.js'
import { DataTable } from './table.js'

const POLL_INTERVAL_MS = 1000
/** The settings that the form offers; the API has more. @type {[name: string, values: (string | boolean)[]][]} */
const CHOICES = [
  ['scoring', ['upstream', 'hardened']],
  ['extraction', ['strict', 'last_tag', 'tag_or_boxed', 'bare']],
  ['dual_format', [true, false]],
  ['length_penalty', [true, false]],
  ['advantage', ['mean', 'mean_std', 'leave_one_out', 'none']],
  ['signal_on', ['reward', 'score']],
]

export function RescorePanel({ run, path }) {
  const { value, problem, reload } = useResource(`${path}/rescore`)
  return html`
    <${RescoreForm} run=${run} path=${path} onStarted=${reload} />
    ${problem && html`<${ErrorMessage} problem=${problem} />`}
    ${(value?.rescores ?? []).map((rescore) => html`<${FollowedRescore} key=${rescore.id} first=${rescore} path=${path} />`)}
  `
}

function RescoreForm({ run, path, onStarted }) {
  const { start, busy, problem } = useAction(async ({ target }) => {
    const form = new FormData(target)
    const chosen = CHOICES.map(([name, values]) => [name, values.find((one) => String(one) === form.get(name))])
    await fetchJson(`${path}/rescore`, {
      method: 'POST',
      body: { settings: Object.fromEntries(chosen) },
      headers: { 'idempotency-key': crypto.randomUUID() },
    })
    onStarted()
  })
  return html`<${Panel} title="Score again" about="Scores the groups that the server keeps under other settings, and shows how rewards, signal and advantages would differ. Nothing changes in the run.">
    <${NeedsRole} role="trainer" run=${run.run} to="score the groups again">
    <form onSubmit=${start}>
      <div class="row">
        ${CHOICES.map(
          ([name, values]) => html`<label>${name}<select name=${name}>
            <option value="">as in the run (${formatSetting(run.settings[name])})</option>
            ${values.filter((value) => value !== run.settings[name]).map((value) => html`<option>${String(value)}</option>`)}
          </select></label>`,
        )}
        <button class="main" type="submit" disabled=${busy}>Start</button>
      </div>
      ${problem && html`<${ErrorMessage} problem=${problem} />`}
    </form>
    <//>
  <//>`
}

/** Shows the rescore, and its progress until it has ended. */
function FollowedRescore({ first, path }) {
  const [ended, setEnded] = useState(isActive(first) ? undefined : first)
  const load = async (address, options) => {
    const rescore = await fetchJson(address, options)
    if (!isActive(rescore)) setEnded(rescore)
    return rescore
  }
  const { value } = useResource(ended ? null : `${path}/rescore/${first.id}`, { load, everyMs: POLL_INTERVAL_MS })
  return html`<${RescoreResult} rescore=${ended ?? value ?? first} path=${path} />`
}

const isActive = ({ status }) => status === 'queued' || status === 'running'

function RescoreResult({ rescore, path }) {
  const { settings, status, progress, detail, result } = rescore
  const names = Object.entries(settings).map(([name, value]) => `${name}: ${formatSetting(value)}`)
  return html`<${Panel} title=${names.join(', ') || 'the same rules'}>
    ${isActive(rescore) && html`<${EmptyState}>${status === 'queued' ? 'Waiting for a worker.' : `${formatCount(progress.done)} of ${pluralize(progress.total, 'group')}`}<//>`}
    ${detail && html`<p><${Chip} tone="bad">${status}<//> ${detail}</p>`}
    ${result && html`<${ResultTable} result=${result} /><${Examples} examples=${result.examples} path=${path} />`}
  <//>`
}

function ResultTable({ result }) {
  if (result.groups === 0) return html`<${EmptyState}>No group could be scored again.<//>`
  const rows = [
    { task: 'all tasks', ...result },
    ...Object.entries(result.tasks).map(([task, counts]) => ({ task, ...counts })),
  ]
  const rungs = ({ difficulty: at }) => (at ? `${formatDecimal(at.before)} → ${formatDecimal(at.after)}` : '–')
  const leftOut = result.left_out > 0 && `${pluralize(result.left_out, 'group')} could not be scored again.`
  return html`${leftOut && html`<p class="about">${leftOut}</p>`}<${DataTable} label="Differences by task" rows=${rows} columns=${[
    ['task', ({ task }) => task],
    ['groups', ({ groups }) => formatCount(groups), 'num from-m'],
    ['rollouts', ({ rollouts }) => formatCount(rollouts), 'num from-l'],
    ['rewards changed', ({ rewards_changed }) => formatCount(rewards_changed), 'num'],
    ['mean change', ({ mean_change }) => formatDecimal(mean_change), 'num'],
    ['gain signal', ({ groups_gaining_signal }) => formatCount(groups_gaining_signal), 'num from-m'],
    ['lose signal', ({ groups_losing_signal }) => formatCount(groups_losing_signal), 'num from-m'],
    ['advantages flipped', ({ advantages_flipped }) => formatCount(advantages_flipped), 'num from-l'],
    rows.some(({ difficulty }) => difficulty) && ['difficulty', rungs, 'num from-l'],
  ]} />`
}

function Examples({ examples, path }) {
  if (examples.length === 0) return html`<${EmptyState}>No reward differs.<//>`
  const show = ({ reward, fault, answer }) => html`${formatDecimal(reward)} <code>${fault ?? answer}</code>`
  return html`<${DataTable} label="Examples" rows=${examples} columns=${[
    [
      'rollout',
      ({ group_id, task, rollout }) =>
        html`<a href=${`#/${path}/groups/${encodeURIComponent(group_id)}?rollout=${rollout + 1}`}>${task}</a>`,
    ],
    ['before', ({ before }) => show(before)],
    ['after', ({ after }) => show(after)],
  ]} />`
}

function formatSetting(value) {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}
