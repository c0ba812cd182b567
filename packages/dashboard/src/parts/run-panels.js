/** What the page of a run shows beside its charts: buffer and batches, dump files, settings. */
import { downloadFile, fetchJson } from '../api.js'
import { NeedsRole } from '../caller.js'
import { useAction, useResource } from '../data-hooks.js'
import { formatBytes, formatCount, formatPercent, humanize, pluralize } from '../format.js'
import { html } from '../html.js'
import { omitIgnoredSettings } from '../run-facts.js'
import { Bar } from './bars.js'
import { Chip, EmptyState, ErrorMessage, Loading, Panel, RelativeTime } from './common.js'
import { DataTable } from './table.js'

const MAX_FILES = 20
/** The server also writes a file when no groups arrive for a while. */
const REFRESH_INTERVAL_MS = 15_000
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

/** The buffer and the progress of the next batch. */
export function BatchPanel({ run, width }) {
  const { batch, progress, settings } = run
  const facts = [
    [
      'Buffered',
      `${pluralize(progress.buffered_groups, 'group')} of at most ${formatCount(settings.buffer_max_groups)}`,
    ],
    ['Stale', `${pluralize(progress.stale_groups, 'group')} older than max_policy_lag, dropped`],
    ['Failed', `${pluralize(progress.failed_groups, 'group')} without any scored rollout`],
    ['Unscored', pluralize(progress.unscored, 'rollout')],
    ['Substitute rewards', formatCount(progress.substituted_rewards)],
    ...Object.entries(progress.faults).map(([fault, n]) => [humanize(fault), pluralize(n, 'rollout')]),
  ]
  return html`<${Panel} title="Buffer and batches" width=${width}>
    <div class="progress">
      <p>Batch of step ${formatCount(batch.step)}: ${formatCount(batch.buffered)} of ${formatCount(batch.wanted)} rollouts${batch.queued > 0 ? `, ${formatCount(batch.queued)} being scored` : ''}</p>
      <${Bar} value=${batch.buffered / batch.wanted} label=${`The batch is ${formatPercent(batch.buffered / batch.wanted)} complete`} />
    </div>
    <dl class="pairs">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
  <//>`
}

/** The dump files of a run. Hidden if it writes none and has none. */
export function DumpsPanel({ run: { run, settings, progress }, width }) {
  const { dumps } = progress
  const { value, problem } = useResource(`dumps?run=${encodeURIComponent(run)}`, { everyMs: REFRESH_INTERVAL_MS })
  const saving = useAction(({ name }) => downloadFile(`dumps/${encodeURIComponent(name)}`, name))
  const files = (value?.files ?? []).toReversed()
  const isOff = settings.dump_rollouts === false && !settings.dump_failed_rollouts
  if (isOff && files.length === 0) return null
  const drawFile = (file) =>
    file.here === false
      ? html`<span class="mono">${file.name}</span> <${Chip}>on ${file.node}<//>`
      : html`<button class="quiet mono link file" type="button" onClick=${() => saving.start(file)}>${file.name}</button>`
  const columns = [
    ['file', drawFile],
    ['kind', ({ kind }) => html`<${Chip} tone=${kind === 'failed' ? 'bad' : 'good'}>${kind}<//>`],
    ['groups', ({ groups }) => formatCount(groups), 'num'],
    ['size', ({ bytes }) => formatBytes(bytes), 'num'],
    ['written', ({ created_at: at }) => html`<${RelativeTime} at=${at} />`, 'num'],
  ]
  return html`<${Panel} title="Dumps" width=${width}>
    ${problem && html`<${ErrorMessage} problem=${problem} absent="This server does not support dumps." />`}
    ${saving.problem && html`<${ErrorMessage} problem=${saving.problem} />`}
    ${!value && !problem && html`<${Loading} />`}
    ${Object.entries(dumps).map(([kind, { waiting, of }]) => waiting > 0 && html`<p class="soft">${pluralize(waiting, 'group')} ${waiting === 1 ? 'waits' : 'wait'} for the next ${kind} file. The server writes it at ${pluralize(of, 'group')}, or when no more groups arrive.</p>`)}
    ${value && files.length === 0 && !Object.values(dumps).some(({ waiting }) => waiting > 0) && html`<${EmptyState}>There are no dump files yet.<//>`}
    ${files.length > 0 && html`<${DataTable} label="Dumps" rows=${files.slice(0, MAX_FILES)} header=${-1} columns=${columns} />`}
    ${files.length > MAX_FILES && html`<p class="soft">The list omits ${pluralize(files.length - MAX_FILES, 'older file')}. <code>GET /dumps?run=${run}</code> returns all.</p>`}
  <//>`
}

/** A form for the tags and notes of a run. */
export function NotesPanel({ run: { run, settings }, path }) {
  const { start, value, problem } = useAction(async ({ target }) => {
    const { tags: list, notes } = target.elements
    const tags = list.value.split(',').map((tag) => tag.trim())
    const body = { tags: tags.filter(Boolean), notes: notes.value }
    return fetchJson(path, { method: 'PUT', body })
  })
  return html`<${Panel} title="Tags and notes">
    <${NeedsRole} role="trainer" run=${run} to="change them">
    <form onSubmit=${start}>
      <label>Tags, with commas between<input name="tags" defaultValue=${settings.tags.join(', ')} /></label>
      <label>Notes<textarea name="notes" maxlength="10000" defaultValue=${settings.notes}></textarea></label>
      <div class="row"><button type="submit">Save</button> <span class="soft" role="status">${value && 'Saved'}</span></div>
      ${problem && html`<${ErrorMessage} problem=${problem} />`}
    </form>
    <//>
  <//>`
}

/** The settings that have an effect on a run. */
export function SettingsPanel({ settings }) {
  const rank = (name) => (PINNED_SETTINGS.includes(name) ? PINNED_SETTINGS.indexOf(name) : PINNED_SETTINGS.length)
  const entries = Object.entries(omitIgnoredSettings(settings)).toSorted(([a], [b]) => rank(a) - rank(b))
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
