/**
 * Machines on a network that fails: each node reaches Redis over a link of its own, and clients reach each API node over another.
 * Processes are killed, nodes are cut off, one direction of a link is cut, links become slow and clocks jump.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fleet, startSingleRedis } from '../support/fleet.ts'
import { type Direction, Link } from './links.ts'
import { killOneOf, type StormEvent, strike } from './storm.ts'

const NODES = ['api0', 'api1', 'worker0', 'worker1']
const PAUSE_RANGE_MS = [500, 3000] as const
/** What happens to links for a while. What is cut arrives when it is over, as it does by TCP. */
const NETWORK_EVENTS: {
  what: string
  directions: readonly Direction[]
  delayMs: number
  spanMs: readonly [number, number]
}[] = [
  { what: 'cut', directions: ['up', 'down'], delayMs: Number.POSITIVE_INFINITY, spanMs: [500, 6000] },
  { what: 'cut towards the server', directions: ['up'], delayMs: Number.POSITIVE_INFINITY, spanMs: [500, 6000] },
  { what: 'cut towards the client', directions: ['down'], delayMs: Number.POSITIVE_INFINITY, spanMs: [500, 6000] },
  { what: 'slow', directions: ['up', 'down'], delayMs: 100, spanMs: [2000, 6000] },
]
/** Chance that all links of Redis have it, as if the machine of Redis were cut off. */
const ALL_CHANCE = 0.25
/** From a second to a day, forward or back. */
const CLOCK_JUMPS_S = [1, 60, 3600, 86_400]

interface SimulatedMachines {
  fleet: Fleet
  /** So many events. */
  disturb: (seed: number, count: number) => AsyncGenerator<string>
  close(): void
}

export async function startMachines(): Promise<SimulatedMachines> {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-machines-'))
  const links: Link[] = []
  const open = (name: string, port: number) => {
    const link = new Link(name, port)
    links.push(link)
    return link.listen()
  }
  const redis = await startSingleRedis()
  const redisPorts = new Map<string, number>()
  for (const node of NODES) redisPorts.set(node, await open(`${node} and Redis`, redis.port))
  const fleet = await Fleet.start({
    redis,
    getNodeEnv: (node) => ({
      REDIS_URL: `redis://127.0.0.1:${redisPorts.get(node)}`,
      NODE_OPTIONS: `--import ${join(import.meta.dirname, 'shifted-clock.ts')}`,
      CLOCK_OFFSET_FILE: join(folder, node),
    }),
    exposePort: (port) => open(`clients and the API node at ${port}`, port),
  })
  const setClock = (node: string, offset: number) => writeFileSync(join(folder, node), String(offset))
  const kill = killOneOf(fleet, ['api', 'worker', 'host'])
  const disturbOne = disturbLinks(links)
  const events = [kill, kill, killOneOf(fleet, ['redis']), disturbOne, disturbOne, disturbOne, shiftClock(setClock)]
  return {
    fleet,
    async *disturb(seed, count) {
      const pace = { count, pauseMs: PAUSE_RANGE_MS }
      yield* strike(fleet, seed, pace, (done, random) => random.pick(events)(done, random))
      for (const node of NODES) setClock(node, 0)
    },
    close() {
      for (const link of links) link.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function disturbLinks(links: readonly Link[]): StormEvent {
  return async (_done, random) => {
    const { what, directions, delayMs, spanMs } = random.pick(NETWORK_EVENTS)
    const toRedis = links.filter(({ name }) => name.endsWith('Redis'))
    const some = random.chance(ALL_CHANCE) ? toRedis : [random.pick(links)]
    const ms = Math.round(random.between(...spanMs))
    const delay = (value: number) => {
      for (const link of some) for (const direction of directions) link.delayMs[direction] = value
    }
    delay(delayMs)
    await sleep(ms)
    delay(0)
    return `${some.map(({ name }) => name).join(', ')}: ${what} for ${ms} ms`
  }
}

function shiftClock(setClock: (node: string, offset: number) => void): StormEvent {
  return async (_done, random) => {
    const node = random.pick(NODES)
    const offset = random.pick(CLOCK_JUMPS_S) * (random.chance(0.5) ? 1 : -1)
    setClock(node, offset)
    return `the clock of ${node} is ${Math.abs(offset)} s ${offset > 0 ? 'fast' : 'slow'} now`
  }
}
