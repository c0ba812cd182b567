/** A table of runs. */
import { formatCount, formatDecimal, humanize } from '../format.js'
import { html } from '../html.js'
import { Chip } from './common.js'
import { RelativeTime } from './relative-time.js'
import { SortHead } from './sort-head.js'
import { Table } from './table.js'

const STATE_TONES = {
  flowing: 'good',
  idle: '',
  finished: '',
  starved_of_rollouts: 'warn',
  no_signal: 'warn',
  trainer_silent: 'warn',
  all_stale: 'bad',
  buffer_full: 'bad',
  engine_down: 'bad',
  recreated: 'bad',
  suspicious: 'bad',
}

export function getTone(state) {
  return STATE_TONES[state?.is] ?? ''
}

/** The mean over all tasks, weighted by their number of rollouts. */
export function getMean(tasks, field) {
  const known = Object.values(tasks).filter((task) => task[field] !== null && task[field] !== undefined)
  const skipped = (task) => (field === 'mean_score' ? (task.skipped ?? 0) : 0)
  const weight = (task) => (task.rollouts ?? task.groups) - skipped(task)
  const all = known.reduce((sum, task) => sum + weight(task), 0)
  return all === 0 ? null : known.reduce((sum, task) => sum + task[field] * weight(task), 0) / all
}

/** When the run last scored a group, in ms; null before the first. */
export function getLastActivity({ tasks }) {
  const times = Object.values(tasks).flatMap(({ last_at }) => (last_at ? [Date.parse(last_at)] : []))
  return times.length === 0 ? null : Math.max(...times)
}

export const RUN_COLUMNS = {
  name: ({ run }) => run,
  state: ({ state }) => state?.is ?? null,
  activity: getLastActivity,
  step: ({ progress }) => progress.step,
  rollouts: ({ progress }) => progress.rollouts,
  reward: ({ tasks }) => getMean(tasks, 'mean_reward'),
}

/**
 * `order`, `onOrder`: for headings that sort. `picked`, `onPick`: for tick boxes. `actions`: renders what can be done with
 * a run.
 */
export function RunsTable({ runs, order = '', onOrder, picked, onPick, actions }) {
  const Head = onOrder ? SortHead : PlainHead
  const head = { order, onOrder }
  return html`<${Table} label="Runs">
      <thead>
        <tr>
          ${onPick && html`<th class="pick"><span class="unseen">select</span></th>`}
          <${Head} name="name" up ...${head}>run<//>
          <${Head} name="state" up ...${head}>state<//>
          <${Head} name="activity" class="from-m" ...${head}>last activity<//>
          <${Head} name="step" class="num from-m" ...${head}>step<//>
          <${Head} name="rollouts" class="num from-l" ...${head}>rollouts<//>
          <th class="num from-l">buffered groups</th>
          <${Head} name="reward" class="num" ...${head}>mean reward<//>
          ${actions && html`<th class="from-m"><span class="unseen">actions</span></th>`}
        </tr>
      </thead>
      <tbody>
        ${runs.map((one) => html`<${RunRow} key=${one.run} one=${one} picked=${picked} onPick=${onPick} actions=${actions} />`)}
      </tbody>
    <//>`
}

function PlainHead({ class: className, children }) {
  return html`<th class=${className}>${children}</th>`
}

function RunRow({ one, picked, onPick, actions }) {
  const { run, state, lifecycle, progress, tasks } = one
  const at = getLastActivity(one)
  const activity = at === null ? '–' : html`<${RelativeTime} at=${at} />`
  return html`<tr>
    ${onPick && html`<td class="pick"><input type="checkbox" aria-label=${`Select ${run}`} checked=${picked.includes(run)} onChange=${() => onPick(run)} /></td>`}
    <th scope="row" class="name"><a href=${`#/runs/${encodeURIComponent(run)}`}>${run}</a><small class="until-m">step ${formatCount(progress.step)}, ${activity}</small></th>
    <td>${state ? html`<${Chip} tone=${getTone(state)}>${lifecycle === 'archived' ? 'archived' : humanize(state.is)}<//>` : '–'}</td>
    <td class="from-m">${activity}</td>
    <td class="num from-m">${formatCount(progress.step)}</td>
    <td class="num from-l">${formatCount(progress.rollouts)}</td>
    <td class="num from-l">${formatCount(progress.buffered_groups)}</td>
    <td class="num">${formatDecimal(getMean(tasks, 'mean_reward'))}</td>
    ${actions && html`<td class="from-m">${actions(one)}</td>`}
  </tr>`
}
