/** The storm: trainers train while processes are killed; in the end the ledger is held against the server. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Fleet, type ProcessKind } from './fleet.ts'
import { Ledger, type RunProgress, type SettledGroup } from './ledger.ts'
import { RetryingClient } from './retrying-client.ts'
import { SeededRandom } from './seeded-random.ts'
import { CHAOS_RUN, CHAOS_RUN_SETTINGS, RANK_COUNT, SimulatedTrainer } from './simulated-trainer.ts'

export interface ChaosReport {
  seed: number
  seconds: number
  kills: Record<ProcessKind, number>
  entries: [string, string | number][]
  violations: string[]
}

interface ChaosOptions {
  kills: number
  seed: number
  onKill?: (done: number) => void
}

const KILL_KINDS: ProcessKind[] = ['api', 'api', 'worker', 'worker', 'host', 'host', 'host']
const PAUSE_RANGE_MS = [0, 2000] as const
const BURST_CHANCE = 0.2 // chance that a kill follows another at once

/** Kills so many processes; Redis, twice, is among them. */
export async function runChaos({ kills, seed, onKill }: ChaosOptions): Promise<ChaosReport> {
  return runStorm(await Fleet.start(), seed, (fleet) => killRandomly(fleet, kills, new SeededRandom(seed), onKill))
}

/** What happens to the fleet while the trainers train; they finish when it resolves. */
type Storm = (fleet: Fleet) => Promise<void>

/** Stops the fleet in the end. */
export async function runStorm(fleet: Fleet, seed: number, storm: Storm): Promise<ChaosReport> {
  const started = Date.now()
  const asker = new RetryingClient(fleet.urls, new SeededRandom(seed + 1), fleet.key)
  let left: number[] = []
  let told: Omit<ChaosReport, 'seconds'> | undefined
  try {
    told = await trainThrough(fleet, asker, seed, storm)
  } finally {
    asker.close()
    left = await fleet.stop(told?.violations.length === 0)
  }
  for (const pid of left) told.violations.push(`process ${pid} of a killed node lives on`)
  return { ...told, seconds: Math.round((Date.now() - started) / 1000) }
}

async function trainThrough(
  fleet: Fleet,
  asker: RetryingClient,
  seed: number,
  storm: Storm,
): Promise<Omit<ChaosReport, 'seconds'>> {
  const ledger = new Ledger()
  await asker.request('PUT', `/runs/${CHAOS_RUN}`, CHAOS_RUN_SETTINGS)
  const trainers = Array.from(
    { length: RANK_COUNT },
    (_, rank) => new SimulatedTrainer(rank, asker, ledger, new SeededRandom(seed + 100 + rank)),
  )
  let over = false
  let latest = 0
  const training = trainers.map(async (trainer) => {
    // All ranks end with the same step: the one after the latest that anybody began before the storm was over.
    for (let step = 0; !over || step <= latest; step++) {
      if (!over) latest = Math.max(latest, step)
      await trainer.runStep(step)
    }
  })
  const raging = storm(fleet).finally(() => {
    over = true
  })
  await Promise.all([raging, ...training])
  await fleet.waitUntilAllReady()
  const rerun = await drainRun(asker, trainers[0], latest + 1)
  const settled: SettledGroup[] = []
  for (const id of ledger.posted.keys()) {
    const { status, body } = await asker.request('GET', `/rollouts/${id}?run=${CHAOS_RUN}`)
    if (status === 200) settled.push(body)
    else ledger.addViolation(`group ${id}: ${status} ${body.code ?? body.status}`)
  }
  const run = await asker.request('GET', `/runs/${CHAOS_RUN}`)
  const history = await asker.request('GET', `/runs/${CHAOS_RUN}/history`)
  for (const failure of asker.serverErrors) ledger.addViolation(failure)
  const checked = ledger.check(settled, run.body as RunProgress, history.body.points.length) // as the contract says
  const entries: ChaosReport['entries'] = [
    ...checked.entries,
    ['failed jobs run again', rerun],
    ['calls made again', asker.retryCount],
  ]
  return { seed, kills: fleet.kills, entries, violations: checked.violations }
}

/** Has jobs that failed for good tried again, as an operator would, and takes what is left; gives how many jobs. */
async function drainRun(
  asker: RetryingClient,
  trainer: SimulatedTrainer | undefined,
  firstStep: number,
): Promise<number> {
  let rerun = 0
  for (let step = firstStep; ; ) {
    step = (await trainer?.drainBatches(step)) ?? step
    const { body } = await asker.request('GET', '/jobs/failed?limit=1000')
    // A group that goes into no batch is not waited for by those who take them, and its job may have been lost.
    const { progress } = (await asker.request('GET', `/runs/${CHAOS_RUN}`)).body
    if (body.jobs.length === 0 && progress.queued_groups === 0) return rerun
    for (const { id } of body.jobs) {
      const { status } = await asker.request('POST', `/jobs/failed/${encodeURIComponent(id)}/retry`)
      if (status === 202) rerun++
    }
  }
}

/** Kills at random, sometimes twice at once; between, something must have come back, or the trainers would only wait. */
async function killRandomly(
  fleet: Fleet,
  kills: number,
  dice: SeededRandom,
  onKill?: (done: number) => void,
): Promise<void> {
  const redisAt = new Set([Math.floor(kills / 3), Math.floor((2 * kills) / 3)])
  for (let done = 0; done < kills; ) {
    if (!dice.chance(BURST_CHANCE)) {
      await fleet.waitUntilSomeReady()
      await sleep(dice.between(...PAUSE_RANGE_MS))
    }
    if (!(await fleet.kill(redisAt.has(done) ? 'redis' : dice.pick(KILL_KINDS), dice))) {
      await sleep(10)
      continue
    }
    done++
    onKill?.(done)
  }
}
