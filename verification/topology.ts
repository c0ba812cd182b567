/**
 * npm run verify -- topology [--case NAME] [--changes N] [--seed N]
 *   [--redis-server PATH]: four trainer ranks on two API nodes and two workers, while the servers of Redis fail over or pass
 * their slots on. Prints the ledger of the chaos run; ends with 1 where it does not balance.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Command, InvalidArgumentError, Option } from 'commander'
import { Fleet } from './chaos/fleet.ts'
import { type ChaosReport, runStorm } from './chaos/run-chaos.ts'
import { SeededRandom } from './chaos/seeded-random.ts'
import {
  startClusterCrash,
  startClusterFailover,
  startSentinelCrash,
  startSentinelFailover,
} from './topology/failovers.ts'
import { loseWithReplica } from './topology/lagging-replica.ts'
import { startResharding } from './topology/resharding.ts'

const CASES = {
  'sentinel-failover': startSentinelFailover,
  'cluster-failover': startClusterFailover,
  'sentinel-crash': startSentinelCrash,
  'cluster-crash': startClusterCrash,
  resharding: startResharding,
} as const
/** Cases with a ledger of their own, and the number of replicas that must have a write. */
const LAGGING_CASES = { 'lagging-replica': 0, 'replicated-lag': 1 } as const
type Case = keyof typeof CASES | keyof typeof LAGGING_CASES
const CASE_NAMES = [...Object.keys(CASES), ...Object.keys(LAGGING_CASES)] as Case[] // their own keys

const PAUSE_RANGE_MS = [0, 2000] as const

const parseCount = (text: string) => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number')
  return Number(text)
}
const options = new Command('topology')
  .addOption(new Option('--case <name>', 'only this one; else all, one after the other').choices(CASE_NAMES))
  .option('--changes <n>', 'failovers, or rounds of moves', parseCount, 10)
  .option('--seed <n>', 'what is changed and what is posted', parseCount, Date.now() % 1_000_000)
  .option('--redis-server <path>', 'another Redis or Valkey than the one of the private Redis')
  .parse()
  .opts<{ case?: Case; changes: number; seed: number; redisServer?: string }>()

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)) // the fleet ends with us
for (const name of options.case ? [options.case] : CASE_NAMES) {
  console.log(`${name}: ${options.changes} changes, seed ${options.seed}`)
  const violations = await runCase(name)
  console.log(violations === 0 ? 'The ledger balances.' : `${violations} violations (seed ${options.seed}).`)
  if (violations > 0) process.exitCode = 1
}

async function runCase(name: Case): Promise<number> {
  if (name === 'lagging-replica' || name === 'replicated-lag')
    return printReport(await loseWithReplica({ ...options, replicas: LAGGING_CASES[name] }))
  const { redis, change } = await CASES[name](options.redisServer)
  const random = new SeededRandom(options.seed)
  const report = await runStorm(await Fleet.start(redis), options.seed, async (fleet) => {
    for (let done = 1; done <= options.changes; done++) {
      await fleet.waitUntilSomeReady()
      await sleep(random.between(...PAUSE_RANGE_MS))
      console.log(`${done}. ${await change(random)}`)
    }
  })
  console.log(`${report.seconds} s`)
  return printReport(report)
}

function printReport(report: Pick<ChaosReport, 'entries' | 'violations'>): number {
  for (const [entry, value] of report.entries) console.log(`${entry.padEnd(28)} ${value}`)
  for (const violation of report.violations.slice(0, 50)) console.log(`VIOLATION ${violation}`)
  return report.violations.length
}
