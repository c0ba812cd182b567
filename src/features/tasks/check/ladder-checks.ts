/** Checks the levels of a task's curriculum: each must make items that can be solved, and levels must not go back. */
import { isDeepStrictEqual } from 'node:util'
import type { Config } from '@reasoning-gym-server/contract/recipe'
import type { OwnTaskDefinition } from '../../../engine/engine.ts'
import { Ladders } from '../ladders.ts'
import { verifyOwnLadder } from '../own-ladders.ts'
import type { CheckContext } from './check-task.ts'
import { fail, ok, type TaskFinding, warn } from './finding.ts'

export async function checkLadder(
  { engine, task, defaults }: CheckContext,
  own: OwnTaskDefinition,
): Promise<TaskFinding> {
  if (own.ladder.length === 0 && own.no_ladder_reason === 'it has no curriculum') {
    const advice = 'pass a curriculum class to register_dataset, so that runs can adjust the difficulty'
    return warn('ladder', 'it has no curriculum: all items have the same difficulty', advice)
  }
  const advice = 'every level of the curriculum must be valid, differ from the one before, and make items in time'
  const ladders = new Ladders()
  await verifyOwnLadder({ engine, ladders }, task, own)
  const reason = ladders.whyNotAdjustable(task)
  if (reason !== null) return fail('ladder', reason, advice)
  const equal = own.ladder.findIndex((config, k) => k > 0 && isDeepStrictEqual(config, own.ladder[k - 1]))
  if (equal > 0) return warn('ladder', `levels ${equal - 1} and ${equal} have the same config`, advice)
  const turned = findTurningField(own.ladder.map((config) => ({ ...defaults, ...config })))
  if (turned !== undefined) {
    const better = 'order the levels of each attribute from easiest to hardest'
    return warn('ladder', `${turned} goes up and down along the levels`, better)
  }
  return ok('ladder', `${own.ladder.length} levels, each with items that can be solved`)
}

/** A number that rises at one level and falls at another. */
function findTurningField(levels: Config[]): string | undefined {
  const isTurning = (field: string) => {
    const values = levels.map((config) => config[field]).filter((value) => typeof value === 'number')
    const steps = values.slice(1).map((value, k) => Math.sign(value - (values[k] ?? 0)))
    return steps.includes(1) && steps.includes(-1)
  }
  return Object.keys(levels[0] ?? {}).find(isTurning)
}
