/** The buffer and the progress of the next batch. */
import { formatCount, formatPercent, humanize, pluralize } from '../format.js'
import { html } from '../html.js'
import { Panel } from './common.js'

export function BatchPanel({ run, width }) {
  const { batch, progress, settings } = run
  const facts = [
    [
      'Buffered',
      `${pluralize(progress.buffered_groups, 'group')} of at most ${formatCount(settings.buffer_max_groups)}`,
    ],
    ['Queued', `${pluralize(progress.queued_groups, 'group')} waiting to be scored`],
    ...(progress.stale_groups === undefined
      ? []
      : [['Stale', `${pluralize(progress.stale_groups, 'group')} older than max_policy_lag, dropped`]]),
    ['Failed', `${pluralize(progress.failed_groups, 'group')} without any scored rollout`],
    ['Unscored', pluralize(progress.unscored, 'rollout')],
    ...Object.entries(progress.faults).map(([fault, n]) => [humanize(fault), pluralize(n, 'rollout')]),
  ]
  return html`<${Panel} title="Buffer and batches" width=${width}>
    ${
      batch &&
      html`<div class="progress">
      <p>Batch of step ${formatCount(batch.step)}: ${formatCount(batch.buffered)} of ${formatCount(batch.wanted)} rollouts${batch.queued > 0 ? `, ${formatCount(batch.queued)} being scored` : ''}</p>
      <span class="bar" role="img" aria-label=${`The batch is ${formatPercent(batch.buffered / batch.wanted)} complete`}>
        <i style=${{ width: formatPercent(Math.min(1, batch.buffered / batch.wanted)).replace(' ', '') }}></i>
      </span>
    </div>`
    }
    <dl class="pairs">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
  <//>`
}
