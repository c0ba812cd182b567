/** How groups flow from the generators of a run to its trainer, which side waits, and what to change. */
import { useResource } from '../data-hooks.js'
import { formatCount, formatDecimal, formatPercent } from '../format.js'
import { html } from '../html.js'
import { Panel, StatTiles, Tile } from './common.js'

const REFRESH_INTERVAL_MS = 5000

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
  <//>`
}
