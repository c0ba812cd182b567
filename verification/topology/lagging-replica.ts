/**
 * What a failover loses, and what it must not: groups are posted while the replica stands still and the master dies. A group
 * may be lost only if it was accepted while the replica stood still; counters must match what is left; what is posted again is
 * new and counts once. With REDIS_REPLICAS, nothing may be lost: what the replica lacks was never accepted.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Fleet } from '../chaos/fleet.ts'
import { RetryingClient } from '../chaos/retrying-client.ts'
import type { ChaosReport } from '../chaos/run-chaos.ts'
import { SeededRandom } from '../chaos/seeded-random.ts'
import { type SentinelSetup, startSentinel } from '../support/redis-sentinel.ts'

const RUN = 'lagging'
const POSTER_COUNT = 8
/** What the socket of a replica that stands still does not hold is lost: groups must be large. */
const TOKENS_PER_ROLLOUT = 8000
const GROUP_SIZE = 8
const LAG_MS = 3000
/** From an answer of the server to its being noted here. */
const TOLERANCE_MS = 1000

interface Options {
  changes: number
  seed: number
  redisServer?: string
  /** REDIS_REPLICAS of the nodes. */
  replicas: number
}

interface Accepted {
  group: Record<string, unknown>
  at: number
}

type Failover = Awaited<ReturnType<SentinelSetup['failOverBehind']>>
type Report = Pick<ChaosReport, 'entries' | 'violations'>

export async function loseWithReplica({ changes, seed, redisServer, replicas }: Options): Promise<Report> {
  const setup = await startSentinel(redisServer)
  const fleet = await Fleet.start({ ...setup, settings: { REDIS_REPLICAS: String(replicas) } })
  const client = new RetryingClient(fleet.urls, new SeededRandom(seed))
  let report: Report | undefined
  try {
    await client.request('PUT', `/runs/${RUN}`, { tasks: ['chain_sum'], keep_groups: 1_000_000 })
    const accepted = new Map<string, Accepted>()
    const failovers: Failover[] = []
    let over = false
    const posters = Array.from({ length: POSTER_COUNT }, async (_, poster) => {
      for (let n = 0; !over; n++) await postGroup(client, accepted, `p${poster}-${n}`)
    })
    for (let k = 0; k < changes; k++) {
      await sleep(3000)
      failovers.push(await setup.failOverBehind(LAG_MS))
      await setup.recover()
      console.log(`${k + 1}. the master died ${LAG_MS} ms after its replica stood still`)
    }
    over = true
    await Promise.all(posters)
    report = await settle(client, accepted, failovers)
    const [, [, lost]] = report.entries as [unknown, [string, number]] // as settle lists them
    if (replicas > 0 && lost > 0) report.violations.push(`${lost} groups are lost in spite of REDIS_REPLICAS`)
    return report
  } finally {
    client.close()
    await fleet.stop(report?.violations.length === 0)
  }
}

async function postGroup(client: RetryingClient, accepted: Map<string, Accepted>, id: string): Promise<void> {
  const { body } = await client.request('POST', '/items', { run: RUN, count: 1 })
  const rollouts = Array.from({ length: GROUP_SIZE }, (_, k) => ({
    completion: `${id} ${k}`,
    tokens: Array.from({ length: TOKENS_PER_ROLLOUT }, () => Math.floor(Math.random() * 150_000)),
  }))
  const group = { run: RUN, item_id: body.items[0].id, group_id: id, rollouts }
  const { status, body: answer } = await client.request('POST', '/rollouts', group)
  if (status !== 200 && status !== 202) throw new Error(`group ${id}: ${status} ${JSON.stringify(answer)}`)
  accepted.set(id, { group, at: Date.now() })
}

async function settle(client: RetryingClient, accepted: Map<string, Accepted>, failovers: Failover[]): Promise<Report> {
  const violations = [...client.serverErrors]
  const lost: string[] = []
  for (const [id, { at }] of accepted) {
    const { status } = await client.request('GET', `/rollouts/${id}?run=${RUN}`, undefined, { prefer: 'wait=30' })
    if (status === 200) continue
    if (status === 404) lost.push(id)
    else violations.push(`group ${id} is ${status} in the end`)
    if (!failovers.some(({ since, diedAt }) => at >= since && at < diedAt + TOLERANCE_MS)) {
      const ages = failovers.map(({ since }) => `${since - at} ms`)
      violations.push(`group ${id} is lost, and was accepted ${ages.join(' and ')} before the replica fell behind`)
    }
  }
  await expectCount(client, accepted.size - lost.length, 'left', violations)
  for (const id of lost) await client.request('POST', '/rollouts', accepted.get(id)?.group, { prefer: 'wait=30' })
  await expectCount(client, accepted.size, 'posted again', violations)
  return {
    entries: [
      ['groups accepted', accepted.size],
      ['… lost by failovers', lost.length],
      ['… posted again', lost.length],
    ],
    violations,
  }
}

async function expectCount(client: RetryingClient, count: number, what: string, violations: string[]): Promise<void> {
  const { body } = await client.request('GET', `/runs/${RUN}`)
  const { groups, scored_groups, queued_groups } = body.progress
  if (groups !== count || scored_groups !== count || queued_groups !== 0)
    violations.push(
      `${what}: ${count} groups, and the run says ${JSON.stringify({ groups, scored_groups, queued_groups })}`,
    )
}
