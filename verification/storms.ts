/**
 * The proofs in which something happens to a server that clients use. They share one runner (storm/storm.ts) and one ledger, and
 * differ in the load and in the events. Each prints the ledger, and ends with 1 if it does not balance.
 */
import { parseArgs } from 'node:util'
import { startSoak } from './soak/soak-load.ts'
import { createLagLoad } from './storm/lag-load.ts'
import { createLoopLoad, type LoopOptions } from './storm/loop-load.ts'
import { startMachines } from './storm/machines.ts'
import { createRankLoad } from './storm/rank-load.ts'
import { createSampleLoad } from './storm/sample-load.ts'
import {
  killOneOf,
  killWithRedis,
  type StormEvent,
  type StormFleet,
  type StormReport,
  storm,
  strike,
} from './storm/storm.ts'
import { TOPOLOGY_CASES } from './storm/topology.ts'
import { Fleet, type ProcessKind } from './support/fleet.ts'
import { startSentinel } from './support/redis-sentinel.ts'

const BURST_CHANCE = 0.2
/** A node that stands still for so long is given up by the trainers that wait for it. */
const STALL_MS = 1500
const STALL_CHANCE = 0.15
/** Cases of `topology` whose replica lags, and the number of replicas that must have a write. */
const LAG_CASES: Readonly<Record<string, number>> = { 'lagging-replica': 0, 'replicated-lag': 1 }

interface TopologyOptions {
  changes: number
  seed: number
  case: string | undefined
  redisServer: string | undefined
}

/** With `order`, these are killed one after the other instead of `kills` that are drawn. */
export async function chaos(options: {
  kills?: number
  order?: readonly ProcessKind[]
  seed: number
  tell?: (line: string) => void
}) {
  const { order, kills = order?.length ?? 0, seed, tell = console.log } = options
  const fleet = await Fleet.start()
  const drawn = killWithRedis(fleet, ['api', 'api', 'worker', 'worker', 'host', 'host', 'host'], kills)
  const event: StormEvent = order
    ? (done, random) => killOneOf(fleet, order.slice(done, done + 1))(done, random)
    : drawn
  const pace = { count: kills, pauseMs: [0, 2000], burstChance: BURST_CHANCE } as const
  return storm({ fleet, load: createRankLoad(), events: strike(fleet, seed, pace, event), seed, tell })
}

async function openGroups({ kills, minutes, seed }: { kills: number; minutes: number; seed: number }) {
  const fleet = await Fleet.start()
  const kill = killWithRedis(fleet, ['api', 'api', 'worker', 'worker', 'host'], kills)
  const event: StormEvent = async (done, random) => {
    const hasStalled = random.chance(STALL_CHANCE) && (await fleet.pauseApi(random, STALL_MS))
    const what = await kill(done, random)
    return what && hasStalled ? `a node stalled; ${what}` : what
  }
  const pace = { count: kills, pauseMs: [100, 800], burstChance: BURST_CHANCE, minutes } as const
  return storm({ fleet, load: createSampleLoad(), events: strike(fleet, seed, pace, event), seed })
}

/** Only ranks are killed, so any server will do: `fleet`, or one of its own. */
export async function rankKills({ fleet, ...options }: LoopOptions & { fleet?: StormFleet }) {
  return storm({ fleet: fleet ?? (await Fleet.start()), ...createLoopLoad(options), seed: options.seed })
}

async function* topology(options: TopologyOptions): AsyncGenerator<StormReport> {
  const all = [...Object.keys(TOPOLOGY_CASES), ...Object.keys(LAG_CASES)]
  for (const name of options.case === undefined ? all : [options.case]) {
    if (!all.includes(name)) throw new RangeError(`--case is one of ${all.join(', ')}`)
    console.log(`${name}: ${options.changes} changes, seed ${options.seed}`)
    yield await changeTopology(name, options)
  }
}

async function changeTopology(name: string, { changes, seed, redisServer }: TopologyOptions): Promise<StormReport> {
  const startCase = TOPOLOGY_CASES[name]
  if (startCase) {
    const { redis, change } = await startCase(redisServer)
    const fleet = await Fleet.start({ redis })
    const events = strike(fleet, seed, { count: changes, pauseMs: [0, 2000] }, change)
    return storm({ fleet, load: createRankLoad(), events, seed })
  }
  const setup = await startSentinel(redisServer)
  const replicas = LAG_CASES[name] ?? 0
  const fleet = await Fleet.start({ redis: { ...setup, settings: { REDIS_REPLICAS: String(replicas) } } })
  return storm({ fleet, ...createLagLoad(setup, { changes, mayLose: replicas === 0 }), seed })
}

async function machines({ events, seed }: { events: number; seed: number }): Promise<StormReport> {
  const simulated = await startMachines()
  try {
    const { fleet } = simulated
    return await storm({ fleet, load: createRankLoad(), events: simulated.disturb(seed, events), seed })
  } finally {
    simulated.close()
  }
}

async function* once(report: Promise<StormReport>): AsyncGenerator<StormReport> {
  yield await report
}

const NUMBERS = ['seed', 'kills', 'minutes', 'steps', 'items', 'changes', 'events'] as const
const TEXTS = ['case', 'redis-server'] as const

/** Runs one of them with the options of the command line, which run.ts describes. */
export async function runStorm(name: string): Promise<void> {
  const { values } = parseArgs({
    options: Object.fromEntries([...NUMBERS, ...TEXTS].map((option) => [option, { type: 'string' as const }])),
  })
  const number = (option: (typeof NUMBERS)[number], standard: number) => {
    const value = Number(values[option] ?? standard)
    if (!(value >= 0)) throw new RangeError(`--${option} is a number`)
    return value
  }
  const seed = number('seed', Date.now() % 1_000_000)
  const START: Record<string, () => AsyncIterable<StormReport>> = {
    chaos: () => once(chaos({ kills: number('kills', 200), seed })),
    'open-groups': () => once(openGroups({ kills: number('kills', 60), minutes: number('minutes', 60), seed })),
    'rank-kills': () =>
      once(rankKills({ steps: number('steps', 40), kills: number('kills', 22), items: number('items', 12), seed })),
    topology: () =>
      topology({ changes: number('changes', 10), seed, case: values.case, redisServer: values['redis-server'] }),
    machines: () => once(machines({ events: number('events', 40), seed })),
    soak: () => once(startSoak({ minutes: number('minutes', 60), seed }).then(storm)),
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)) // the fleet ends with us
  console.log(`${name}, seed ${seed}`)
  for await (const report of START[name]?.() ?? []) print(report, seed)
  process.exit()
}

function print({ seconds, events, kills, entries, violations }: StormReport, seed: number): void {
  console.log(`${events} events in ${seconds} s; seed ${seed}`)
  if (kills) console.log(`killed: ${JSON.stringify(kills)}`)
  for (const [name, value] of entries) console.log(`${name.padEnd(28)} ${value}`)
  for (const violation of violations.slice(0, 50)) console.log(`VIOLATION ${violation}`)
  console.log(violations.length === 0 ? 'The ledger balances.' : `${violations.length} violations (seed ${seed}).`)
  if (violations.length > 0) process.exitCode = 1
}
