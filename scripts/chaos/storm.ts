/** The storm: trainers train while processes are killed; in the end the ledger is held against the server. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Asker } from './ask.ts'
import { Dice } from './dice.ts'
import { Fleet, type Victim } from './fleet.ts'
import { Ledger, type RunFigures, type Settled } from './ledger.ts'
import { RANKS, RUN, SETTINGS, Trainer } from './trainer.ts'

export interface Report {
  seed: number
  seconds: number
  kills: Record<Victim, number>
  entries: [string, string | number][]
  violations: string[]
}

interface Options {
  kills: number
  seed: number
  onKill?: (done: number) => void
}

const KINDS: Victim[] = ['api', 'api', 'worker', 'worker', 'host', 'host', 'host']
const PAUSE_MS = [0, 2000] as const
const BURST = 0.2 // chance that a kill follows another at once

/** Kills so many processes; Redis, twice, is among them. */
export async function storm({ kills, seed, onKill }: Options): Promise<Report> {
  const started = Date.now()
  const fleet = await Fleet.start()
  const asker = new Asker(fleet.urls, new Dice(seed + 1))
  let left: number[] = []
  let told: Omit<Report, 'seconds'> | undefined
  try {
    told = await stormOver(fleet, asker, { kills, seed, ...(onKill && { onKill }) })
  } finally {
    asker.close()
    left = await fleet.stop(told?.violations.length === 0)
  }
  for (const pid of left) told.violations.push(`process ${pid} of a killed node lives on`)
  return { ...told, seconds: Math.round((Date.now() - started) / 1000) }
}

async function stormOver(
  fleet: Fleet,
  asker: Asker,
  { kills, seed, onKill }: Options,
): Promise<Omit<Report, 'seconds'>> {
  const ledger = new Ledger()
  await asker.ask('PUT', `/runs/${RUN}`, SETTINGS)
  const trainers = Array.from(
    { length: RANKS },
    (_, rank) => new Trainer(rank, asker, ledger, new Dice(seed + 100 + rank)),
  )
  let over = false
  let latest = 0
  const training = trainers.map(async (trainer) => {
    // All ranks end with the same step: the one after the latest that anybody began before the storm was over.
    for (let step = 0; !over || step <= latest; step++) {
      if (!over) latest = Math.max(latest, step)
      await trainer.step(step)
    }
  })
  const killing = kill(fleet, kills, new Dice(seed), onKill).finally(() => {
    over = true
  })
  await Promise.all([killing, ...training])
  await fleet.whole()
  const rerun = await settle(asker, trainers[0], latest + 1)
  const settled: Settled[] = []
  for (const id of ledger.posted.keys()) {
    const { status, body } = await asker.ask('GET', `/rollouts/${id}?run=${RUN}`)
    if (status === 200) settled.push(body)
    else ledger.violation(`group ${id}: ${status} ${body.code ?? body.status}`)
  }
  const run = await asker.ask('GET', `/runs/${RUN}`)
  const checked = ledger.check(settled, run.body as RunFigures) // as the contract says
  const entries: Report['entries'] = [
    ...checked.entries,
    ['failed jobs run again', rerun],
    ['calls made again', asker.repeated],
  ]
  return { seed, kills: fleet.kills, entries, violations: checked.violations }
}

/** Has jobs that failed for good tried again, as an operator would, and takes what is left; gives how many jobs. */
async function settle(asker: Asker, trainer: Trainer | undefined, firstStep: number): Promise<number> {
  let rerun = 0
  for (let step = firstStep; ; ) {
    step = (await trainer?.drain(step)) ?? step
    const { body } = await asker.ask('GET', '/jobs/failed?limit=1000')
    // A group that goes into no batch is not waited for by those who take them, and its job may have been lost.
    const { progress } = (await asker.ask('GET', `/runs/${RUN}`)).body
    if (body.jobs.length === 0 && progress.queued_groups === 0) return rerun
    for (const { id } of body.jobs) {
      const { status } = await asker.ask('POST', `/jobs/failed/${encodeURIComponent(id)}/retry`)
      if (status === 202) rerun++
    }
  }
}

/** Kills at random, sometimes twice at once; between, something must have come back, or the trainers would only wait. */
async function kill(fleet: Fleet, kills: number, dice: Dice, onKill?: (done: number) => void): Promise<void> {
  const redisAt = new Set([Math.floor(kills / 3), Math.floor((2 * kills) / 3)])
  for (let done = 0; done < kills; ) {
    if (!dice.happens(BURST)) {
      await fleet.someReady()
      await sleep(dice.between(...PAUSE_MS))
    }
    if (!(await fleet.kill(redisAt.has(done) ? 'redis' : dice.one(KINDS), dice))) {
      await sleep(10)
      continue
    }
    done++
    onKill?.(done)
  }
}
