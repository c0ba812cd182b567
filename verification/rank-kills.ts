/**
 * npm run verify -- rank-kills [--steps 40] [--kills 22] [--items 12] [--seed N]: three ranks train by the synchronous loop of
 * docs/guides/synchronous-loop.md on a server of their own, and are killed with -9 and started again. Ends with 1 if a group counted
 * twice, ranks had different batches, or one hung.
 */
import { Command, InvalidArgumentError } from 'commander'
import { requirePython } from '../src/main/bootstrap/python/python-command.ts'
import { runRankKills } from './rank-kills/run-rank-kills.ts'
import { withScriptServer } from './support/with-server.ts'

const parseCount = (text: string) => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('a whole number')
  return Number(text)
}
const options = new Command('rank-kills')
  .option('--steps <n>', 'steps of training', parseCount, 40)
  .option('--kills <n>', 'ranks to kill, at most one kill a rank and step', parseCount, 22)
  .option('--items <n>', 'items a step, of 8 rollouts each', parseCount, 12)
  .option('--seed <n>', 'who is killed, and when', parseCount, Date.now() % 1_000_000)
  .parse()
  .opts<{ steps: number; kills: number; items: number; seed: number }>()

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)) // the server ends with us
console.log(`${options.kills} kills in ${options.steps} steps, seed ${options.seed}`)
const python = await requirePython(undefined)
const report = await withScriptServer(undefined, (url) =>
  runRankKills({ ...options, url, python, deadlineMs: 60_000 + 20_000 * options.steps }),
)
const { violations, ...figures } = report
for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(16)} ${value}`)
for (const violation of violations) console.log(`VIOLATION ${violation}`)
console.log(
  violations.length === 0 ? 'Every item counted once.' : `${violations.length} violations (seed ${options.seed}).`,
)
process.exit(violations.length === 0 ? 0 : 1)
