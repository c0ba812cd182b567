/** The buffer and the next batch in the making. */
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
    ['Queued', `${pluralize(progress.queued_groups, 'group')} without verdicts yet`],
    progress.stale_groups !== undefined && [
      'Stale',
      `${pluralize(progress.stale_groups, 'group')} dropped for their age`,
    ],
    ['Failed', `${pluralize(progress.failed_groups, 'group')} of which nothing could be scored`],
    ['Unscored', pluralize(progress.unscored, 'rollout')],
    ...Object.entries(progress.faults).map(([fault, n]) => [humanize(fault), pluralize(n, 'rollout')]),
  ].filter(Boolean)
  return html`<${Panel} title="Buffer and batches" width=${width}>
    ${
      batch &&
      html`<div class="progress">
      <p>Batch of step ${formatCount(batch.step)}: ${formatCount(batch.buffered)} of ${formatCount(batch.wanted)} rollouts${batch.queued > 0 ? `, ${formatCount(batch.queued)} being scored` : ''}</p>
      <span class="bar" role="img" aria-label=${`${formatPercent(batch.buffered / batch.wanted)} of the batch`}>
        <i style=${{ width: formatPercent(Math.min(1, batch.buffered / batch.wanted)).replace(' ', '') }}></i>
      </span>
    </div>`
    }
    <dl class="pairs">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
  <//>`
}
