/** W7: 2,000 connections that are kept, with calls of all kinds: at a pace, and as many as the machine carries. */

import type { Bench, BenchRow } from '../bench-row.ts'
import { makeCompletions, writeOurRequests } from '../completions.ts'
import { prepareBaselinePython } from '../environment.ts'
import { type LoadRequest, NUMBER_MARK } from '../load/requests.ts'
import { type LoadMeasurement, runLoad, writeLoadRequests } from '../load/run.ts'
import { callServer, startOurServer } from '../servers.ts'

const CONNECTION_COUNT = 2000
/** Two thousand rollout workers that each ask for something every few seconds. */
const MEAN_PAUSE_MS = 4000

export async function benchmarkConnections(bench: Bench): Promise<BenchRow[]> {
  const all = await makeCompletions(await prepareBaselinePython(), 'chain_sum', 200)
  const server = await startOurServer()
  try {
    const run = 'connections'
    await callServer(server, 'PUT', `/runs/${run}`, { extraction: 'last_tag', buffer: false })
    const { items } = (await callServer(server, 'POST', '/items', { task: 'chain_sum', seed: 1, count: 50 })) as {
      items: { id: string }[]
    } // as documented
    await runLoad({
      port: server.port,
      server: server.pid,
      asks: writeOurRequests('chain_sum', all),
      count: 200,
      warmupS: 0,
      anywhere: true,
    })
    const asks = items.flatMap(({ id }, k): LoadRequest[] => {
      const rollouts = (all[k]?.completions ?? []).map((completion) => ({ completion }))
      return [
        {
          path: '/score',
          body: JSON.stringify({ rollouts: rollouts.map((rollout) => ({ item_id: id, ...rollout })) }),
        },
        { path: '/rollouts', body: JSON.stringify({ run, item_id: id, group_id: NUMBER_MARK, rollouts }) },
        { path: '/items', body: JSON.stringify({ task: 'chain_sum', seed: 1, index: k }) },
        { method: 'GET', path: `/items/${id}` },
        { method: 'GET', path: `/runs/${run}` },
        { method: 'GET', path: '/livez' },
      ]
    })
    const file = writeLoadRequests('connections', asks)
    const at = { port: server.port, server: server.pid, asks: file, connections: CONNECTION_COUNT, anywhere: true }
    const paced = await runLoad({ ...at, pauseMs: MEAN_PAUSE_MS, warmupS: 5, seconds: 3 * bench.seconds })
    bench.record('W7 paced', paced)
    const closed = await runLoad({ ...at, warmupS: 3, seconds: 2 * bench.seconds })
    bench.record('W7 closed loop', closed)
    const errors = ({ errors: each }: LoadMeasurement) => Object.values(each).reduce((sum, one) => sum + one, 0)
    const beside = ({ perSecond, errors: each, p50 }: LoadMeasurement) =>
      `${Math.round(perSecond)} calls/s, median ${Math.round(p50 ?? 0)} ms${formatErrors(each)}`
    const row = (what: string, value: number, unit: string, measured: LoadMeasurement): BenchRow => ({
      work: 'W7',
      what: `${CONNECTION_COUNT} connections with mixed calls, ${what}`,
      value,
      unit,
      beside: beside(measured),
    })
    const [calm, full] = [`one call every ${MEAN_PAUSE_MS / 1000} s each`, 'each without a pause']
    return [
      { ...row(`${calm}: errors`, errors(paced), '', paced), most: 0 },
      { ...row(`${calm}: p99`, paced.p99 ?? Number.NaN, 'ms', paced), most: 1000 },
      { ...row(`${full}: errors`, errors(closed), '', closed), most: 0 },
      { ...row(`${full}: p99`, closed.p99 ?? Number.NaN, 'ms', closed), most: 1000 },
    ]
  } finally {
    await server.stop()
  }
}

function formatErrors(errors: LoadMeasurement['errors']): string {
  return Object.keys(errors).length === 0 ? '' : `, errors ${JSON.stringify(errors)}`
}
