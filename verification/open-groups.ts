/**
 * npm run verify -- open-groups [--kills 60] [--minutes 60] [--seed N]: two API nodes, two workers and a Redis under trainers that send one
 * rollout a call, give up on slow answers and send them again; processes are killed with -9 at random. Ends with 1 if a
 * rollout that was answered is not in exactly one group of the run.
 */
import { Command, InvalidArgumentError } from 'commander'
import { runOpenGroups } from './open-groups/run-open-groups.ts'

const parseCount = (text: string) => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number')
  return Number(text)
}
const options = new Command('open-groups')
  .option('--kills <n>', 'processes to kill; Redis twice among them', parseCount, 60)
  .option('--minutes <n>', 'the storm ends after so long, with fewer kills', parseCount, 60)
  .option('--seed <n>', 'who is killed and what is sent', parseCount, Date.now() % 1_000_000)
  .parse()
  .opts<{ kills: number; minutes: number; seed: number }>()

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)) // the fleet ends with us
console.log(`${options.kills} kills, seed ${options.seed}`)
const onKill = (done: number) => done % 10 === 0 && console.log(`${done} killed`)
const report = await runOpenGroups({ ...options, onKill })

const { api, worker, host, redis } = report.kills
console.log(
  `killed: ${api} API nodes, ${worker} workers, ${host} Python processes, ${redis} times Redis; ${report.seconds} s`,
)
for (const [name, value] of report.entries) console.log(`${name.padEnd(28)} ${value}`)
for (const violation of report.violations.slice(0, 50)) console.log(`VIOLATION ${violation}`)
console.log(
  report.violations.length === 0
    ? 'Every answered rollout counted once.'
    : `${report.violations.length} violations (seed ${options.seed}).`,
)
process.exit(report.violations.length === 0 ? 0 : 1)
