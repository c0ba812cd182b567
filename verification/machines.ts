/**
 * npm run verify -- machines [--events N] [--seed N]: seven machines on a simulated network, three with a master of a Redis
 * Cluster, two with an API node and two with a worker, and this process as the load. Links have latency and loss. While four
 * trainer ranks train, processes are killed, machines are cut off, links become slow and clocks jump. Prints the ledger; ends
 * with 1 where it does not balance. Needs root, and skips where it may not create network namespaces.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command, InvalidArgumentError } from 'commander'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'
import { resolveRedisBinary } from '../src/main/bootstrap/redis/redis-binary.ts'
import { Fleet, type FleetMachines, type FleetRedis, type ProcessKind } from './chaos/fleet.ts'
import { runStorm } from './chaos/run-chaos.ts'
import { SeededRandom } from './chaos/seeded-random.ts'
import { type Link, SimulatedNetwork } from './machines/simulated-network.ts'
import { LoopbackRedis } from './support/loopback-redis.ts'
import { CLUSTER_SETTINGS, formCluster } from './support/redis-cluster.ts'

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
const KILL_KINDS: ProcessKind[] = ['api', 'worker', 'host']

const parseCount = (text: string) => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number')
  return Number(text)
}
const options = new Command('machines')
  .option('--events <n>', 'kills, cuts, slow links and clock jumps', parseCount, 40)
  .option('--seed <n>', 'what happens to whom, and what is posted', parseCount, Date.now() % 1_000_000)
  .parse()
  .opts<{ events: number; seed: number }>()

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)) // exit handlers clean up
const python = await ensurePythonEnvironment(console.log)
const network = await SimulatedNetwork.open(ALL_HOSTS, python).catch((error: Error) => {
  console.log(`Skipped: this machine does not allow network namespaces (${error.message.split('\n')[0]}).`)
  process.exit(0)
})
const folder = mkdtempSync(join(tmpdir(), 'rgs-machines-'))
console.log(`${ALL_HOSTS.length} machines, ${options.events} events, seed ${options.seed}`)
const redis = await startRedis()
const fleet = await Fleet.start(redis, placeOnMachines())
const report = await runStorm(fleet, options.seed, disturb)
network.close()
if (report.violations.length === 0) rmSync(folder, { recursive: true, force: true })
console.log(`${report.seconds} s`)
for (const [entry, value] of report.entries) console.log(`${entry.padEnd(28)} ${value}`)
for (const violation of report.violations.slice(0, 50)) console.log(`VIOLATION ${violation}`)
console.log(
  report.violations.length === 0
    ? 'The ledger balances.'
    : `${report.violations.length} violations (seed ${options.seed}).`,
)
process.exit(report.violations.length === 0 ? 0 : 1)

async function startRedis(): Promise<FleetRedis & { nodes: LoopbackRedis[] }> {
  const binary = await resolveRedisBinary(console.log)
  const nodes = REDIS_HOSTS.map((host) => {
    const place = { host: network.getAddress(host), launcher: network.getLauncher(host) }
    return new LoopbackRedis(binary, mkFolder(host), REDIS_PORT, CLUSTER_SETTINGS, place)
  })
  await formCluster(nodes)
  for (const host of ALL_HOSTS) network.setLink(host, USUAL_LINK)
  return {
    nodes,
    url: `redis+cluster://${nodes.map(({ host, port }) => `${host}:${port}`).join(',')}`,
    stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  }
}

function placeOnMachines(): FleetMachines {
  const clock = join(import.meta.dirname, 'machines', 'shifted-clock.ts')
  return {
    key: 'machines-admin-key-0123456789abcdef',
    getApiHost: (k) => network.getAddress(API_HOSTS[k] ?? ''),
    start(role, k, script, env, log) {
      const host = (role === 'api' ? API_HOSTS : WORKER_HOSTS)[k] ?? ''
      const [command, ...args] = [...network.getLauncher(host), process.execPath, script]
      return spawn(command, args, {
        env: { ...env, NODE_OPTIONS: `--import ${clock}`, CLOCK_OFFSET_FILE: clockFileOf(host) },
        stdio: ['ignore', log, log, 'ipc'],
      })
    },
  }
}

async function disturb(): Promise<void> {
  const random = new SeededRandom(options.seed)
  const events = [killProcess, killProcess, killRedis, cutOff, cutOneWay, slowDown, shiftClock]
  for (let done = 1; done <= options.events; done++) {
    await fleet.waitUntilSomeReady()
    await sleep(random.between(...PAUSE_RANGE_MS))
    console.log(`${String(done).padStart(3)}. ${await random.pick(events)(random)}`)
  }
  for (const host of NODE_HOSTS) writeFileSync(clockFileOf(host), '0')
}

async function killProcess(random: SeededRandom): Promise<string> {
  const kind = random.pick(KILL_KINDS)
  const name = { api: 'an API node', worker: 'a worker', host: 'a Python process', redis: 'Redis' }[kind]
  return (await fleet.kill(kind, random)) ? `${name} was killed` : `${name} was to be killed, and was not up`
}

async function killRedis(random: SeededRandom): Promise<string> {
  const node = random.pick(redis.nodes)
  await node.kill()
  const awayMs = Math.round(random.between(...REDIS_AWAY_RANGE_MS))
  await sleep(awayMs)
  node.restart()
  return `the master at ${node.host} was killed, and came back after ${awayMs} ms`
}

async function cutOff(random: SeededRandom): Promise<string> {
  const host = random.pick(ALL_HOSTS)
  const ms = Math.round(random.between(...CUT_RANGE_MS))
  network.isolate(host)
  await sleep(ms)
  network.heal()
  return `${host} was cut off for ${ms} ms`
}

async function cutOneWay(random: SeededRandom): Promise<string> {
  const [node, server] = [random.pick(NODE_HOSTS), random.pick(REDIS_HOSTS)]
  const [from, to] = random.chance(0.5) ? [node, server] : [server, node]
  const ms = Math.round(random.between(...CUT_RANGE_MS))
  network.cut(from, to)
  await sleep(ms)
  network.heal()
  return `nothing went from ${from} to ${to} for ${ms} ms`
}

async function slowDown(random: SeededRandom): Promise<string> {
  const host = random.pick(ALL_HOSTS)
  const ms = Math.round(random.between(...SLOW_RANGE_MS))
  network.setLink(host, SLOW_LINK)
  await sleep(ms)
  network.setLink(host, USUAL_LINK)
  return `the link of ${host} was slow for ${ms} ms`
}

async function shiftClock(random: SeededRandom): Promise<string> {
  const host = random.pick(NODE_HOSTS)
  const offset = random.pick(CLOCK_JUMPS_S) * (random.chance(0.5) ? 1 : -1)
  writeFileSync(clockFileOf(host), String(offset))
  return `the clock of ${host} is ${Math.abs(offset)} s ${offset > 0 ? 'fast' : 'slow'} now`
}

function clockFileOf(host: string): string {
  return join(folder, `${host}.clock`)
}

function mkFolder(host: string): string {
  const path = join(folder, host)
  mkdirSync(path, { recursive: true })
  return path
}
