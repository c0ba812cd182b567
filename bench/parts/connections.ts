/** W7: 2,000 connections that are kept, with calls of all kinds. */
import { pythonOfBaselines } from '../environment.ts'
import { type Ask, NUMBER_MARK } from '../load/asks.ts'
import { load, writeAsks } from '../load/run.ts'
import type { Bench, Row } from '../rows.ts'
import { call, startOurs } from '../servers.ts'
import { asksForUs, makeTexts } from '../texts.ts'

const CONNECTIONS = 2000

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
    const measured = await load({
      port: server.port,
      server: server.pid,
      asks: writeAsks('connections', asks),
      connections: CONNECTIONS,
      warmupS: 3,
      seconds: 2 * bench.seconds,
      anywhere: true,
    })
    bench.keep('W7', measured)
    const errors = Object.values(measured.errors).reduce((sum, one) => sum + one, 0)
    const beside = `${Math.round(measured.perSecond)} calls a second ${JSON.stringify(measured.errors)}`
    return [
      {
        work: 'W7',
        what: `errors on ${CONNECTIONS} connections with mixed calls`,
        value: errors,
        unit: '',
        most: 0,
        beside,
      },
      {
        work: 'W7',
        what: `p99 on ${CONNECTIONS} connections`,
        value: measured.p99 ?? Number.NaN,
        unit: 'ms',
        most: 1000,
      },
    ]
  } finally {
    await server.stop()
  }
}
