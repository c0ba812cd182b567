/**
 * Looks for answers that earn a hardened reward without solving: constants, echoes, random and grammar-made texts.
 * Exit 1 where a ploy earns more than 0.1 on average and there is no reason that it cannot be helped.
 */
import { parseArgs } from 'node:util'
import { PythonEngine } from '../src/engine/python-engine.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'
import { getRewardHackReason } from './reward-hacks/explanations.ts'
import { findRewardHacks, type RewardHack } from './reward-hacks/search.ts'

const MIN_REPORTED_MEAN = 0.05
const MAX_ALLOWED_MEAN = 0.1

const { values } = parseArgs({
  options: {
    task: { type: 'string' },
    items: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
  },
})
const engine = new PythonEngine({
  pythonPath: await ensurePythonEnvironment(console.error),
  workersPerPool: 1,
  scoreDeadlineMs: 2000,
  makeDeadlineMs: 10_000,
})
await engine.waitUntilStarted()
const tasks = values.task === undefined ? Object.keys(await engine.tasks()).toSorted() : [values.task]
const rewardHacks: RewardHack[] = []
console.log(`seed ${values.seed}, ${values.items} items a task`)
for (const task of tasks) {
  const found = await findRewardHacks(engine, task, Number(values.items), Number(values.seed))
  const [best] = found
  if (best === undefined) continue
  rewardHacks.push(best)
  if (values.task !== undefined) for (const find of found.slice(0, 10)) console.log(formatRewardHack(find))
  else if (best.mean > MIN_REPORTED_MEAN) console.log(formatRewardHack(best))
}
await engine.close()

rewardHacks.sort((a, b) => b.mean - a.mean)
const unexplained = rewardHacks.filter((find) => getRewardHackReason(find) === undefined)
console.log(`\nthe worst ten of ${rewardHacks.length} tasks`)
for (const find of rewardHacks.slice(0, 10)) console.log(formatRewardHack(find))
console.log('\nthe worst ten without a reason')
for (const find of unexplained.slice(0, 10)) console.log(formatRewardHack(find))
process.exit(unexplained.some(({ mean }) => mean > MAX_ALLOWED_MEAN) ? 1 : 0)

function formatRewardHack(find: RewardHack): string {
  const ploy = find.ploy.length > 60 ? `${find.ploy.slice(0, 57)}...` : find.ploy
  return `${find.task}: ${find.mean.toFixed(3)} by ${ploy}   ${getRewardHackReason(find) ?? 'no reason'}`
}
