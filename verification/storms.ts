/**
 * The proofs in which something happens to a server that clients use. They share one runner (storm/storm.ts) and one ledger, and
 * differ in the load and in the events. Each prints the ledger, and ends with 1 if it does not balance.
 */
import { Command, InvalidArgumentError } from 'commander'
import { startSoak } from './soak/soak-load.ts'
import { stormWithByteLimit, stormWithFullDisk, stormWithKills } from './storm/dump-load.ts'
import { createLagLoad } from './storm/lag-load.ts'
import { createLoopLoad } from './storm/loop-load.ts'
import { startMachines } from './storm/machines.ts'
import { createRankLoad } from './storm/rank-load.ts'
import { createSampleLoad } from './storm/sample-load.ts'
import { killWithRedis, type StormEvent, type StormReport, storm, strike } from './storm/storm.ts'
import { TOPOLOGY_CASES } from './storm/topology.ts'
import { Fleet } from './support/fleet.ts'
import { startSentinel } from './support/redis-sentinel.ts'

const BURST_CHANCE = 0.2
/** A node that stands still for so long is given up by the trainers that wait for it. */
const STALL_MS = 1500
const STALL_CHANCE = 0.15
/** Cases of `topology` whose replica lags, and the number of replicas that must have a write. */
const LAG_CASES: Readonly<Record<string, number>> = { 'lagging-replica': 0, 'replicated-lag': 1 }
const ALL_CASES = [...Object.keys(TOPOLOGY_CASES), ...Object.keys(LAG_CASES)]

interface TopologyOptions {
  case?: string
  changes: number
  seed: number
  redisServer?: string
}

export async function chaos(options: { kills: number; seed: number; tell?: (line: string) => void }) {
  const { kills, seed, tell = console.log } = options
  const fleet = await Fleet.start()
  const event = killWithRedis(fleet, ['api', 'api', 'worker', 'worker', 'host', 'host', 'host'], kills)
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

export async function rankKills(options: { steps: number; kills: number; items: number; seed: number }) {
  return storm({ fleet: await Fleet.start(), ...createLoopLoad(options), seed: options.seed })
}

async function* topology(options: TopologyOptions): AsyncGenerator<StormReport> {
  for (const name of options.case === undefined ? ALL_CASES : [options.case]) {
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

async function* machines({ events, seed }: { events: number; seed: number }): AsyncGenerator<StormReport> {
  const started = await startMachines()
  if (!started) return
  try {
    const { fleet, disturb } = started
    yield await storm({ fleet, load: createRankLoad(), events: disturb(seed, events), seed })
  } finally {
    started.close()
  }
}

async function* dumpSoak({ groups, seed }: { groups: number; seed: number }): AsyncGenerator<StormReport> {
  for (const part of [stormWithKills, stormWithByteLimit, stormWithFullDisk]) {
    console.log(part.name)
    const report = await part(groups, seed)
    if (report) yield report
  }
}

async function* once(report: Promise<StormReport>): AsyncGenerator<StormReport> {
  yield await report
}

/** Runs one of them with the options of the command line. */
export async function runStorm(name: string): Promise<void> {
  const command = new Command(name)
  const count = (flag: string, about: string, standard: number) =>
    command.option(`--${flag} <n>`, about, parseCount, standard)
  count('seed', 'what happens to whom, and what is sent', Date.now() % 1_000_000)
  const START: Record<string, () => AsyncIterable<StormReport>> = {
    chaos: () => {
      count('kills', 'processes to kill; Redis twice among them', 200)
      return once(chaos(command.parse().opts()))
    },
    'open-groups': () => {
      count('kills', 'processes to kill; Redis twice among them', 60)
      count('minutes', 'the storm ends after so long, with fewer kills', 60)
      return once(openGroups(command.parse().opts()))
    },
    'rank-kills': () => {
      count('steps', 'steps of training', 40)
      count('kills', 'ranks to kill, at most one kill a rank and step', 22)
      count('items', 'items a step, of 8 rollouts each', 12)
      return once(rankKills(command.parse().opts()))
    },
    topology: () => {
      count('changes', 'failovers, or rounds of moves', 10)
      command.option(`--case <name>`, `one of ${ALL_CASES.join(', ')}; else all, one after the other`, parseCase)
      command.option('--redis-server <path>', 'another Redis or Valkey than the one of the private Redis')
      return topology(command.parse().opts())
    },
    machines: () => {
      count('events', 'kills, cuts, slow links and clock jumps', 40)
      return machines(command.parse().opts())
    },
    soak: () => {
      command.option('--minutes <n>', 'how long', parseMinutes, 60)
      return once(startSoak(command.parse().opts()).then(storm))
    },
    'dump-soak': () => {
      command.argument('[groups]', 'groups to dump', parseCount, 20_000).parse()
      return dumpSoak({ groups: Number(command.processedArgs[0]), ...command.opts<{ seed: number }>() })
    },
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)) // the fleet ends with us
  const reports = START[name]?.() ?? []
  const { seed } = command.opts<{ seed: number }>()
  console.log(`${name}, seed ${seed}`)
  for await (const report of reports) print(report, seed)
  process.exit()
}

function print({ seconds, events, kills, entries, violations }: StormReport, seed: number): void {
  console.log(`${events} events in ${seconds} s; seed ${seed}`)
  if (kills)
    console.log(
      `killed: ${kills.api} API nodes, ${kills.worker} workers, ${kills.host} Python processes, ${kills.redis} times Redis`,
    )
  for (const [name, value] of entries) console.log(`${name.padEnd(28)} ${value}`)
  for (const violation of violations.slice(0, 50)) console.log(`VIOLATION ${violation}`)
  console.log(violations.length === 0 ? 'The ledger balances.' : `${violations.length} violations (seed ${seed}).`)
  if (violations.length > 0) process.exitCode = 1
}

function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number')
  return Number(text)
}

function parseMinutes(text: string): number {
  if (!/^\d{1,5}(\.\d+)?$/.test(text) || Number(text) === 0) throw new InvalidArgumentError('a number of minutes')
  return Number(text)
}

function parseCase(text: string): string {
  if (!ALL_CASES.includes(text)) throw new InvalidArgumentError(`one of ${ALL_CASES.join(', ')}`)
  return text
}
