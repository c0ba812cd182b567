/** The storm: trainers send single samples while processes are killed; in the end the ledger is held against the groups of the run. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { RetainedGroup } from '@reasoning-gym-server/contract/retained-group'
import { Fleet, type ProcessKind } from '../chaos/fleet.ts'
import { RetryingClient } from '../chaos/retrying-client.ts'
import { SeededRandom } from '../chaos/seeded-random.ts'
import { type LedgerReport, SampleLedger } from './sample-ledger.ts'
import {
  GROUP_SIZE,
  OPEN_GROUPS_RUN,
  type SampledItem,
  type SamplerContext,
  SimulatedSampler,
} from './simulated-sampler.ts'

export interface OpenGroupsReport extends LedgerReport {
  seconds: number
  kills: Record<ProcessKind, number>
}

interface OpenGroupsOptions {
  kills: number
  seed: number
  /** The storm ends after so long, with fewer kills. */
  minutes: number
  onKill?: (done: number) => void
}

const SETTINGS = {
  tasks: ['chain_sum', 'spell_backward'],
  group_size: GROUP_SIZE,
  batch_size: GROUP_SIZE,
  open_group_timeout_s: 5,
  length_penalty: false,
  keep_groups: 1_000_000,
}
const SAMPLERS = 4
const ITEMS = 200
const KILL_KINDS: ProcessKind[] = ['api', 'api', 'worker', 'worker', 'host']
const PAUSE_RANGE_MS = [100, 800] as const
const BURST_CHANCE = 0.2
/** A node that stands still for so long is given up by the trainers that wait for it. */
const STALL_MS = 1500
const STALL_CHANCE = 0.15
/** Until the samples of the last dead process count. */
const DRAIN_TIMEOUT_MS = 300_000

/** Kills so many processes; Redis, twice, is among them. */
export async function runOpenGroups({ kills, seed, minutes, onKill }: OpenGroupsOptions): Promise<OpenGroupsReport> {
  const started = Date.now()
  const fleet = await Fleet.start()
  const client = new RetryingClient(fleet.urls, new SeededRandom(seed + 1))
  let report: LedgerReport | undefined
  let left: number[] = []
  try {
    report = await sampleThrough(fleet, client, seed, () =>
      killRandomly(fleet, { kills, seed, minutes, onKill: onKill ?? (() => {}) }),
    )
  } finally {
    client.close()
    left = await fleet.stop(report?.violations.length === 0)
  }
  for (const pid of left) report.violations.push(`process ${pid} of a killed node lives on`)
  return { ...report, kills: fleet.kills, seconds: Math.round((Date.now() - started) / 1000) }
}

async function sampleThrough(
  fleet: Fleet,
  client: RetryingClient,
  seed: number,
  storm: () => Promise<number>,
): Promise<LedgerReport> {
  await client.request('PUT', `/runs/${OPEN_GROUPS_RUN}`, SETTINGS)
  const items = await makeItems(client)
  const ledger = new SampleLedger()
  const context: SamplerContext = { urls: fleet.urls, ledger, counters: { calls: 0, retries: 0, refused: 0 } }
  let isOver = false
  const training = Array.from({ length: SAMPLERS }, async (_, k) => {
    const random = new SeededRandom(seed + 100 + k)
    const sampler = new SimulatedSampler(`s${k}`, context, random)
    while (!isOver) await sampler.sampleItem(random.pick(items))
  })
  const raging = storm().finally(() => {
    isOver = true
  })
  const [stalls] = await Promise.all([raging, ...training])
  await fleet.waitUntilAllReady()
  const progress = await drain(client)
  const groups = await listGroups(client)
  for (const failure of client.serverErrors) ledger.violations.push(failure)
  const { entries, violations } = ledger.check(groups, GROUP_SIZE, progress)
  const { calls, retries, refused } = context.counters
  return {
    entries: [
      ...entries,
      ['calls', calls],
      ['… made again', retries],
      ['… refused', refused],
      ['nodes that stalled', stalls],
    ],
    violations,
  }
}

async function makeItems(client: RetryingClient): Promise<SampledItem[]> {
  const items: SampledItem[] = []
  for (let seed = 1; seed <= ITEMS; seed++) {
    const task = SETTINGS.tasks[seed % SETTINGS.tasks.length]
    const made = await client.request('POST', '/items', { task, seed })
    const { id } = made.body.items[0]
    const { body } = await client.request('GET', `/items/${id}?reveal=true`)
    items.push({ id, answer: body.answer })
  }
  return items
}

/** Waits until nothing is open or queued; jobs that failed for good are tried again, as an operator would. */
async function drain(client: RetryingClient): Promise<{ groups: number; rollouts: number }> {
  for (const until = Date.now() + DRAIN_TIMEOUT_MS; ; await sleep(1000)) {
    const { progress } = (await client.request('GET', `/runs/${OPEN_GROUPS_RUN}`)).body
    const { jobs } = (await client.request('GET', '/jobs/failed?limit=1000')).body
    for (const { id } of jobs) await client.request('POST', `/jobs/failed/${encodeURIComponent(id)}/retry`)
    if (progress.open_groups === 0 && progress.queued_groups === 0 && jobs.length === 0) return progress
    if (Date.now() > until) throw new Error(`the run does not come to rest: ${JSON.stringify(progress)}`)
  }
}

async function listGroups(client: RetryingClient): Promise<RetainedGroup[]> {
  const groups: RetainedGroup[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { body } = await client.request('GET', `/runs/${OPEN_GROUPS_RUN}/groups?full=true&limit=200${query}`)
    groups.push(...body.groups)
    cursor = body.next_cursor
  }
  return groups
}

/** Kills at random, sometimes twice at once; a node stalls now and then. Returns how often. */
async function killRandomly(
  fleet: Fleet,
  { kills, seed, minutes, onKill }: Required<OpenGroupsOptions>,
): Promise<number> {
  const random = new SeededRandom(seed)
  const redisAt = new Set([Math.floor(kills / 3), Math.floor((2 * kills) / 3)])
  const until = Date.now() + minutes * 60_000
  let stalls = 0
  for (let done = 0; done < kills && Date.now() < until; ) {
    if (!random.chance(BURST_CHANCE)) {
      await fleet.waitUntilSomeReady()
      await sleep(random.between(...PAUSE_RANGE_MS))
    }
    if (random.chance(STALL_CHANCE) && (await fleet.pauseApi(random, STALL_MS))) stalls++
    if (!(await fleet.kill(redisAt.has(done) ? 'redis' : random.pick(KILL_KINDS), random))) {
      await sleep(10)
      continue
    }
    done++
    onKill(done)
  }
  return stalls
}
