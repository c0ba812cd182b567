/** A table of runs. */
import { formatCount, formatDecimal, humanize } from '../format.js'
import { html } from '../html.js'
import { Chip } from './common.js'
import { Table } from './table.js'

const STATE_TONES = {
  flowing: 'good',
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

export function RunsTable({ runs }) {
  return html`<${Table} label="Runs">
      <thead>
        <tr>
          <th>run</th>
          <th>state</th>
          <th class="num">step</th>
          <th class="num">rollouts</th>
          <th class="num">buffered groups</th>
          <th class="num">mean reward</th>
        </tr>
      </thead>
      <tbody>
        ${runs.map(
          ({ run, state, progress, tasks }) => html`<tr>
            <th scope="row" class="name"><a href=${`#/runs/${encodeURIComponent(run)}`}>${run}</a></th>
            <td>${state ? html`<${Chip} tone=${getTone(state)}>${humanize(state.is)}<//>` : '–'}</td>
            <td class="num">${progress.step === null || progress.step === undefined ? '–' : formatCount(progress.step)}</td>
            <td class="num">${formatCount(progress.rollouts)}</td>
            <td class="num">${formatCount(progress.buffered_groups)}</td>
            <td class="num">${formatDecimal(getMean(tasks, 'mean_reward'))}</td>
          </tr>`,
        )}
      </tbody>
    <//>`
}
