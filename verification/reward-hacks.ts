/**
 * Looks for answers that earn a hardened reward without solving: constants, echoes, random and grammar-made texts.
 * Exit 1 where a ploy earns more than 0.1 on average and there is no reason that it cannot be helped. With --cells, looks
 * for blind policies that earn more than the guess floor of a task card. Exit 1 where one earns more by 0.05, beyond chance.
 */
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import { PythonEngine } from '../src/engine/python-engine.ts'
import { Ladders } from '../src/features/tasks/ladders.ts'
import { TaskCards } from '../src/features/tasks/task-cards.ts'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'
import { getRewardHackReason } from './reward-hacks/explanations.ts'
import { type BlindResult, drawCells, findBestBlindPolicy } from './reward-hacks/floors.ts'
import { findRewardHacks, type RewardHack } from './reward-hacks/search.ts'

const MIN_REPORTED_MEAN = 0.05
const MAX_ALLOWED_MEAN = 0.1
const MAX_ABOVE_FLOOR = 0.05
/** Standard errors of the difference that the best of several policies does not exceed by chance. */
const MAX_ERRORS = 2.5
const ENGINE_POLL_MS = 500

const { values } = parseArgs({
  options: {
    task: { type: 'string' },
    items: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    cells: { type: 'string' },
  },
})
const engine = new PythonEngine({
  pythonPath: await ensurePythonEnvironment(console.error),
  workersPerPool: 1,
  scoreDeadlineMs: 2000,
  makeDeadlineMs: 10_000,
})
await engine.waitUntilStarted()
const isFound = values.cells === undefined ? await searchRewardHacks() : await searchAboveFloors(Number(values.cells))
await engine.close()
process.exit(isFound ? 1 : 0)

async function searchRewardHacks(): Promise<boolean> {
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
  rewardHacks.sort((a, b) => b.mean - a.mean)
  const unexplained = rewardHacks.filter((find) => getRewardHackReason(find) === undefined)
  console.log(`\nthe worst ten of ${rewardHacks.length} tasks`)
  for (const find of rewardHacks.slice(0, 10)) console.log(formatRewardHack(find))
  console.log('\nthe worst ten without a reason')
  for (const find of unexplained.slice(0, 10)) console.log(formatRewardHack(find))
  return unexplained.some(({ mean }) => mean > MAX_ALLOWED_MEAN)
}

async function searchAboveFloors(count: number): Promise<boolean> {
  const ladders = new Ladders()
  const deps = { engine, ladders, cards: new TaskCards(ladders) }
  const seed = Number(values.seed)
  const results: BlindResult[] = []
  for (const [k, cell] of drawCells(ladders, deps.cards, count, seededRandom(seed)).entries()) {
    while (!engine.health().ok) await setTimeout(ENGINE_POLL_MS) // it may have been restarted
    const result = await findBestBlindPolicy(deps, cell, 300_000_000 + 100_000 * seed + 1000 * k)
    if (!result) continue
    results.push(result)
    if (result.mean > result.floor) console.log(formatBlindResult(result))
  }
  const above = results.filter(({ mean, floor }) => mean - floor > MAX_ABOVE_FLOOR)
  const beyondChance = above.filter(
    ({ mean, stderr, floor, floorError }) =>
      mean - floor - MAX_ABOVE_FLOOR > MAX_ERRORS * Math.hypot(stderr, floorError),
  )
  console.log(
    `\n${results.length} cells: ${above.length} policies above the floor by ${MAX_ABOVE_FLOOR}, of these beyond chance:`,
  )
  for (const result of beyondChance) console.log(formatBlindResult(result))
  return beyondChance.length > 0
}

function formatBlindResult({ task, rung, policy, mean, stderr, floor }: BlindResult): string {
  return `${task} ${rung}: ${mean.toFixed(3)} ± ${stderr.toFixed(3)} by ${policy.slice(0, 60)}, floor ${floor.toFixed(3)}`
}

function formatRewardHack(find: RewardHack): string {
  const ploy = find.ploy.length > 60 ? `${find.ploy.slice(0, 57)}...` : find.ploy
  return `${find.task}: ${find.mean.toFixed(3)} by ${ploy}   ${getRewardHackReason(find) ?? 'no reason'}`
}
