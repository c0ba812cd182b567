/**
 * npm run chaos -- --kills 200 [--seed N]: two API nodes, two workers and a Redis under four trainer ranks, killed with
 * -9 at random and started again. Prints the ledger; ends with 1 where it does not balance.
 */
import { SingleBar } from 'cli-progress'
import { Command, InvalidArgumentError } from 'commander'
import { runChaos } from './chaos/run-chaos.ts'

const parseCount = (text: string) => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number')
  return Number(text)
}
const options = new Command('chaos')
  .option('--kills <n>', 'processes to kill; Redis twice among them', parseCount, 200)
  .option('--seed <n>', 'who is killed and what is posted', parseCount, Date.now() % 1_000_000)
  .parse()
  .opts<{ kills: number; seed: number }>()

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)) // the fleet ends with us
console.log(`${options.kills} kills, seed ${options.seed}`)
const bar = new SingleBar({
  format: '{bar} {value}/{total} killed, {duration_formatted}',
  hideCursor: true,
  noTTYOutput: true,
  notTTYSchedule: 10_000,
})
bar.start(options.kills, 0)
const report = await runChaos({ ...options, onKill: (done) => bar.update(done) }).finally(() => bar.stop())

const { api, worker, host, redis } = report.kills
console.log(
  `killed: ${api} API nodes, ${worker} workers, ${host} Python processes, ${redis} times Redis; ${report.seconds} s`,
)
for (const [name, value] of report.entries) console.log(`${name.padEnd(28)} ${value}`)
for (const violation of report.violations.slice(0, 50)) console.log(`VIOLATION ${violation}`)
console.log(
  report.violations.length === 0
    ? 'The ledger balances.'
    : `${report.violations.length} violations (seed ${report.seed}).`,
)
process.exitCode = report.violations.length === 0 ? 0 : 1
