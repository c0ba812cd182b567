/** The buffer and the next batch in the making. */
import { count, percent, plural, words } from '../format.js'
import { html } from '../html.js'
import { Panel } from './bits.js'

export function BatchPanel({ run, width }) {
  const { batch, progress, settings } = run
  const facts = [
    ['Buffered', `${plural(progress.buffered_groups, 'group')} of at most ${count(settings.buffer_max_groups)}`],
    ['Queued', `${plural(progress.queued_groups, 'group')} without verdicts yet`],
    progress.stale_groups !== undefined && ['Stale', `${plural(progress.stale_groups, 'group')} dropped for their age`],
    ['Failed', `${plural(progress.failed_groups, 'group')} of which nothing could be scored`],
    ['Unscored', plural(progress.unscored, 'rollout')],
    ...Object.entries(progress.faults).map(([fault, n]) => [words(fault), plural(n, 'rollout')]),
  ].filter(Boolean)
  return html`<${Panel} title="Buffer and batches" width=${width}>
    ${
      batch &&
      html`<div class="progress">
      <p>Batch of step ${count(batch.step)}: ${count(batch.buffered)} of ${count(batch.wanted)} rollouts${batch.queued > 0 ? `, ${count(batch.queued)} being scored` : ''}</p>
      <span class="bar" role="img" aria-label=${`${percent(batch.buffered / batch.wanted)} of the batch`}>
        <i style=${{ width: percent(Math.min(1, batch.buffered / batch.wanted)).replace(' ', '') }}></i>
      </span>
    </div>`
    }
    <dl class="pairs">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
  <//>`
}
