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
const PAUSE_MS = [100, 2000] as const

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
  await trainers[0]?.drain(latest + 1)
  const settled: Settled[] = []
  for (const id of ledger.posted.keys()) {
    const { status, body } = await asker.ask('GET', `/rollouts/${id}?run=${RUN}`)
    if (status === 200) settled.push(body)
    else ledger.violation(`group ${id}: ${status} ${body.code ?? body.status}`)
  }
  const run = await asker.ask('GET', `/runs/${RUN}`)
  const checked = ledger.check(settled, run.body as RunFigures) // as the contract says
  const entries: Report['entries'] = [...checked.entries, ['calls made again', asker.repeated]]
  return { seed, kills: fleet.kills, entries, violations: checked.violations }
}

async function kill(fleet: Fleet, kills: number, dice: Dice, onKill?: (done: number) => void): Promise<void> {
  const redisAt = new Set([Math.floor(kills / 3), Math.floor((2 * kills) / 3)])
  for (let done = 0; done < kills; ) {
    await sleep(dice.between(...PAUSE_MS))
    if (!(await fleet.kill(redisAt.has(done) ? 'redis' : dice.one(KINDS), dice))) continue
    done++
    onKill?.(done)
  }
}
