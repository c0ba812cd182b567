/** How groups flow from the generators of a run to its trainer, which side waits, and what to change. */
import { useResource } from '../data-hooks.js'
import { formatCount, formatDecimal, formatPercent, humanize } from '../format.js'
import { html } from '../html.js'
import { Panel, StatTiles, Tile } from './common.js'
import { DataTable } from './table.js'

const REFRESH_INTERVAL_MS = 5000
const MAX_TASKS = 10

/** Hidden until the run has two batches. */
export function FlowPanel({ path }) {
  const { value: flow } = useResource(`${path}/flow`, { everyMs: REFRESH_INTERVAL_MS })
  if (!flow || flow.batches === 0) return null
  const { rates, staleness, in_flight: ahead } = flow
  return html`<${Panel}
    title="Flow"
    about=${`The last ${formatCount(flow.batches)} batches. Staleness is the mean policy lag of the groups in batches. The prediction follows from the groups in flight by Little’s law.`}
  >
    <p>${flow.advice.text.replaceAll('`', '')}</p>
    <${StatTiles}>
      <${Tile} name="Trainer waits" value=${formatPercent(flow.trainer_waiting)} note=${flow.trainer_wait_s === null ? null : `${formatDecimal(flow.trainer_wait_s)} s a batch`} />
      <${Tile} name="Generators wait" value=${formatPercent(flow.generators_waiting)} />
      <${Tile} name="Batches per minute" value=${formatDecimal(rates.batches * 60)} note=${`${formatDecimal(rates.groups * 60)} groups posted`} />
      <${Tile} name="In flight" value=${ahead && formatDecimal(ahead.leased + ahead.queued + ahead.buffered)} note=${ahead && `${formatDecimal(ahead.leased)} generated, ${formatDecimal(ahead.queued)} scored, ${formatDecimal(ahead.buffered)} buffered`} />
      <${Tile} name="Staleness" value=${formatDecimal(staleness.measured)} note=${`predicted ${formatDecimal(staleness.predicted)}`} />
      <${Tile} name="Tokens never trained" value=${formatPercent(flow.untrained_tokens)} />
    <//>
    ${flow.dropped_groups && html`<${DroppedGroups} ...${flow.dropped_groups} />`}
  <//>`
}

/** Whether the groups that were dropped as stale differ from those that were kept. The tasks that lost the largest share come first. */
function DroppedGroups({ kept, dropped, tasks }) {
  const getShare = (row) => row.dropped.groups / (row.kept.groups + row.dropped.groups)
  const byTask = Object.entries(tasks).map(([task, means]) => ({ name: humanize(task), ...means }))
  const rows = [
    { name: 'all tasks', kept, dropped },
    ...byTask.sort((a, b) => getShare(b) - getShare(a)).slice(0, MAX_TASKS),
  ]
  const compare = (field, digits) => (row) =>
    `${formatDecimal(row.kept[field], digits)} | ${formatDecimal(row.dropped[field], digits)}`
  return html`<p class="about">Groups that were dropped as stale, and the means of kept | dropped groups. If dropped groups are longer or harder, training favors fast and easy items.</p>
    <${DataTable}
      label="Dropped groups"
      rows=${rows}
      columns=${[
        ['task', (row) => row.name],
        ['dropped', (row) => formatPercent(getShare(row)), 'num'],
        ['groups', (row) => `${formatCount(row.kept.groups)} | ${formatCount(row.dropped.groups)}`, 'num from-m'],
        ['tokens', compare('length_tokens', 0), 'num'],
        ['difficulty', compare('difficulty'), 'num'],
        ['policy lag', compare('policy_lag'), 'num from-m'],
      ]}
    />`
}
