/**
 * Seven machines on a simulated network: three with a master of a Redis Cluster each, two with an API node and two with a worker;
 * this process is the load. Links have latency and loss. Processes are killed, machines are cut off, links become slow and clocks
 * jump.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensurePythonEnvironment } from '../../src/main/bootstrap/python/python-environment.ts'
import { resolveRedisBinary } from '../../src/main/bootstrap/redis/redis-process.ts'
import { Fleet, type FleetMachines, type FleetRedis } from '../support/fleet.ts'
import { LoopbackRedis } from '../support/loopback-redis.ts'
import { CLUSTER_SETTINGS, formCluster } from '../support/redis-cluster.ts'
import { type Link, SimulatedNetwork } from './simulated-network.ts'
import { killOneOf, type StormEvent, strike } from './storm.ts'

const REDIS_HOSTS = ['redis0', 'redis1', 'redis2']
const API_HOSTS = ['api0', 'api1']
const WORKER_HOSTS = ['work0', 'work1']
const NODE_HOSTS = [...API_HOSTS, ...WORKER_HOSTS]
const ALL_HOSTS = [...REDIS_HOSTS, ...NODE_HOSTS]
const REDIS_PORT = 6379
const USUAL_LINK: Link = { delayMs: 0.5, jitterMs: 0.5, loss: 0.001 }
const SLOW_LINK: Link = { delayMs: 100, jitterMs: 50, loss: 0.02 }
const PAUSE_RANGE_MS = [500, 3000] as const
const CUT_RANGE_MS = [500, 6000] as const
const SLOW_RANGE_MS = [2000, 6000] as const
const REDIS_AWAY_RANGE_MS = [0, 1000] as const
/** From a second to a day, forward or back. */
const CLOCK_JUMPS_S = [1, 60, 3600, 86_400]

export interface SimulatedMachines {
  fleet: Fleet
  /** So many events. */
  disturb: (seed: number, count: number) => AsyncGenerator<string>
  close(): void
}

/** Undefined, with a line that says why, where network namespaces are not allowed. */
export async function startMachines(): Promise<SimulatedMachines | undefined> {
  const network = await SimulatedNetwork.open(ALL_HOSTS, await ensurePythonEnvironment(console.log)).catch(
    (error: Error) => {
      console.log(`Skipped: this machine does not allow network namespaces (${error.message.split('\n')[0]}).`)
    },
  )
  if (!network) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'rgs-machines-'))
  const setClock = (host: string, offset: number) => writeFileSync(join(folder, `${host}.clock`), String(offset))
  const redis = await startRedis(network, folder)
  const fleet = await Fleet.start({ redis, machines: placeOnMachines(network, folder) })
  const events = [
    killOneOf(fleet, ['api', 'worker', 'host']),
    killOneOf(fleet, ['api', 'worker', 'host']),
    killRedis(redis.nodes),
    ...createNetworkEvents(network),
    shiftClock(setClock),
  ]
  return {
    fleet,
    async *disturb(seed, count) {
      const pace = { count, pauseMs: PAUSE_RANGE_MS }
      yield* strike(fleet, seed, pace, (done, random) => random.pick(events)(done, random))
      for (const host of NODE_HOSTS) setClock(host, 0)
    },
    close() {
      network.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function startRedis(network: SimulatedNetwork, folder: string) {
  const binary = await resolveRedisBinary(console.log)
  const nodes = REDIS_HOSTS.map((host) => {
    const place = { host: network.getAddress(host), launcher: network.getLauncher(host) }
    mkdirSync(join(folder, host))
    return new LoopbackRedis(binary, join(folder, host), REDIS_PORT, CLUSTER_SETTINGS, place)
  })
  await formCluster(nodes)
  for (const host of ALL_HOSTS) network.setLink(host, USUAL_LINK)
  return {
    nodes,
    url: `redis+cluster://${nodes.map(({ host, port }) => `${host}:${port}`).join(',')}`,
    stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  } satisfies FleetRedis & { nodes: LoopbackRedis[] }
}

function placeOnMachines(network: SimulatedNetwork, folder: string): FleetMachines {
  const clock = join(import.meta.dirname, 'shifted-clock.ts')
  return {
    key: 'machines-admin-key-0123456789abcdef',
    getApiHost: (k) => network.getAddress(API_HOSTS[k] ?? ''),
    start(role, k, script, env, log) {
      const host = (role === 'api' ? API_HOSTS : WORKER_HOSTS)[k] ?? ''
      const [command, ...args] = [...network.getLauncher(host), process.execPath, script]
      return spawn(command, args, {
        env: { ...env, NODE_OPTIONS: `--import ${clock}`, CLOCK_OFFSET_FILE: join(folder, `${host}.clock`) },
        stdio: ['ignore', log, log, 'ipc'],
      })
    },
  }
}

function killRedis(nodes: LoopbackRedis[]): StormEvent {
  return async (_done, random) => {
    const node = random.pick(nodes)
    await node.kill()
    const awayMs = Math.round(random.between(...REDIS_AWAY_RANGE_MS))
    await sleep(awayMs)
    node.restart()
    return `the master at ${node.host} was killed, and came back after ${awayMs} ms`
  }
}

/** A machine is cut off, a direction is cut, a link becomes slow; each for a while. */
function createNetworkEvents(network: SimulatedNetwork): StormEvent[] {
  return [
    async (_done, random) => {
      const host = random.pick(ALL_HOSTS)
      const ms = Math.round(random.between(...CUT_RANGE_MS))
      network.isolate(host)
      await sleep(ms)
      network.heal()
      return `${host} was cut off for ${ms} ms`
    },
    async (_done, random) => {
      const ends = [random.pick(NODE_HOSTS), random.pick(REDIS_HOSTS)]
      const [from = '', to = ''] = random.chance(0.5) ? ends : ends.toReversed()
      const ms = Math.round(random.between(...CUT_RANGE_MS))
      network.cut(from, to)
      await sleep(ms)
      network.heal()
      return `nothing went from ${from} to ${to} for ${ms} ms`
    },
    async (_done, random) => {
      const host = random.pick(ALL_HOSTS)
      const ms = Math.round(random.between(...SLOW_RANGE_MS))
      network.setLink(host, SLOW_LINK)
      await sleep(ms)
      network.setLink(host, USUAL_LINK)
      return `the link of ${host} was slow for ${ms} ms`
    },
  ]
}

function shiftClock(setClock: (host: string, offset: number) => void): StormEvent {
  return async (_done, random) => {
    const host = random.pick(NODE_HOSTS)
    const offset = random.pick(CLOCK_JUMPS_S) * (random.chance(0.5) ? 1 : -1)
    setClock(host, offset)
    return `the clock of ${host} is ${Math.abs(offset)} s ${offset > 0 ? 'fast' : 'slow'} now`
  }
}
