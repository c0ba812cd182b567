/** W7: 2,000 connections that are kept, with calls of all kinds: at a pace, and as many as the machine carries. */
import { pythonOfBaselines } from '../environment.ts'
import { type Ask, NUMBER_MARK } from '../load/asks.ts'
import { load, type Measured, writeAsks } from '../load/run.ts'
import type { Bench, Row } from '../rows.ts'
import { call, startOurs } from '../servers.ts'
import { asksForUs, makeTexts } from '../texts.ts'

const CONNECTIONS = 2000
/** Two thousand rollout workers that each ask for something every few seconds. */
const PAUSE_MS = 4000

export async function connections(bench: Bench): Promise<Row[]> {
  const { all } = await makeTexts(await pythonOfBaselines(), 'chain_sum', 200)
  const server = await startOurs()
  try {
    const run = 'connections'
    await call(server, 'PUT', `/runs/${run}`, { extraction: 'last_tag', buffer: false })
    const { items } = (await call(server, 'POST', '/items', { task: 'chain_sum', seed: 1, count: 50 })) as {
      items: { id: string }[]
    } // as documented
    await load({
      port: server.port,
      server: server.pid,
      asks: asksForUs('chain_sum', all),
      count: 200,
      warmupS: 0,
      anywhere: true,
    })
    const asks = items.flatMap(({ id }, k): Ask[] => {
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
    const file = writeAsks('connections', asks)
    const at = { port: server.port, server: server.pid, asks: file, connections: CONNECTIONS, anywhere: true }
    const paced = await load({ ...at, pauseMs: PAUSE_MS, warmupS: 5, seconds: 3 * bench.seconds })
    bench.keep('W7 paced', paced)
    const closed = await load({ ...at, warmupS: 3, seconds: 2 * bench.seconds })
    bench.keep('W7 closed loop', closed)
    const errors = ({ errors: each }: Measured) => Object.values(each).reduce((sum, one) => sum + one, 0)
    const beside = ({ perSecond, errors: each, p50 }: Measured) =>
      `${Math.round(perSecond)} calls a second ${JSON.stringify(each)}, median ${Math.round(p50 ?? 0)} ms`
    const row = (what: string, value: number, unit: string, measured: Measured): Row => ({
      work: 'W7',
      what: `${CONNECTIONS} connections with mixed calls, ${what}`,
      value,
      unit,
      beside: beside(measured),
    })
    const [calm, full] = [`a call every ${PAUSE_MS / 1000} s each`, 'each asks again at once']
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
