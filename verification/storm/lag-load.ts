/**
 * What a failover loses, and what it must not: groups are posted while the replica stands still and the master dies. A group
 * may be lost only if it was accepted while the replica stood still; counters must match what is left; what is posted again is
 * new and counts once. With REDIS_REPLICAS, nothing may be lost: what the replica lacks was never accepted.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { SentinelSetup } from '../support/redis-sentinel.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import type { Load, StormContext } from './storm.ts'

const RUN = 'lagging'
const POSTER_COUNT = 8
/** What the socket of a replica that stands still does not hold is lost: groups must be large. */
const TOKENS_PER_ROLLOUT = 8000
const GROUP_SIZE = 8
/** Each replica reads all groups again, so more of them would delay each failover. */
const POST_INTERVAL_MS = 300
const LAG_MS = 3000
const PAUSE_MS = 3000
/** From an answer of the server to its being noted here. */
const TOLERANCE_MS = 1000

/** The load, and the failovers that it must know of. */
export function createLagLoad(setup: SentinelSetup, { changes, mayLose }: { changes: number; mayLose: boolean }) {
  const accepted = new Map<string, { itemId: string; at: number }>()
  const failovers: { since: number; diedAt: number }[] = []

  async function postGroup({ client }: StormContext, id: string): Promise<void> {
    const { body } = await client.request('POST', '/items', { run: RUN, count: 1 })
    const itemId: string = body.items[0].id
    const { status, text } = await client.request('POST', '/rollouts', buildGroup(id, itemId))
    if (status !== 200 && status !== 202) throw new Error(`group ${id}: ${status} ${text}`)
    accepted.set(id, { itemId, at: Date.now() })
    await sleep(POST_INTERVAL_MS)
  }

  const load: Load = {
    prepare: ({ client }) => client.request('PUT', `/runs/${RUN}`, { tasks: ['chain_sum'], keep_groups: 1_000_000 }),
    async work(context) {
      const posters = Array.from({ length: POSTER_COUNT }, async (_, poster) => {
        for (let n = 0; !context.isOver(); n++) await postGroup(context, `p${poster}-${n}`)
      })
      await Promise.all(posters)
    },
    async settle(context) {
      const { client, ledger } = context
      const lost: string[] = []
      for (const [id, { at }] of accepted) {
        const { status } = await client.request('GET', `/rollouts/${id}?run=${RUN}`, undefined, { prefer: 'wait=30' })
        if (status === 200) continue
        if (status === 404) lost.push(id)
        else ledger.addViolation(`group ${id} is ${status} in the end`)
        if (failovers.some(({ since, diedAt }) => at >= since && at < diedAt + TOLERANCE_MS)) continue
        const ages = failovers.map(({ since }) => `${since - at} ms`).join(' and ')
        ledger.addViolation(`group ${id} is lost, and was accepted ${ages} before the replica fell behind`)
      }
      if (!mayLose) for (const id of lost) ledger.addViolation(`group ${id} is lost in spite of REDIS_REPLICAS`)
      await expectCount(context, accepted.size - lost.length, 'left')
      for (const id of lost) {
        const group = buildGroup(id, accepted.get(id)?.itemId ?? '')
        await client.request('POST', '/rollouts', group, { prefer: 'wait=30' })
      }
      await expectCount(context, accepted.size, 'posted again')
      ledger.entries.push(['groups accepted', accepted.size], ['… lost by failovers', lost.length])
    },
  }

  async function* failOver(): AsyncGenerator<string> {
    for (let k = 0; k < changes; k++) {
      await sleep(PAUSE_MS)
      failovers.push(await setup.failOverBehind(LAG_MS))
      await setup.recover()
      yield `the master died ${LAG_MS} ms after its replica stood still`
    }
  }

  return { load, events: failOver() }
}

/** The same group for the same ID: thousands of them would not fit into memory. */
function buildGroup(id: string, itemId: string) {
  const random = new SeededRandom(crc32(id))
  const rollouts = Array.from({ length: GROUP_SIZE }, (_, k) => ({
    completion: `${id} ${k}`,
    tokens: Array.from({ length: TOKENS_PER_ROLLOUT }, () => random.integerBelow(150_000)),
  }))
  return { run: RUN, item_id: itemId, group_id: id, rollouts }
}

async function expectCount({ client, ledger }: StormContext, count: number, what: string): Promise<void> {
  const { progress } = (await client.request('GET', `/runs/${RUN}`)).body
  for (const name of ['groups', 'scored_groups'])
    ledger.expectEqual(`${what}: groups, and ${name}`, count, progress[name])
  ledger.expectEqual(`${what}: queued groups`, 0, progress.queued_groups)
}
