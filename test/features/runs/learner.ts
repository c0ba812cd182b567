/** A learner without a model: right with a probability that falls with difficulty, at each task in its own way. */

import type { Item } from '@reasoning-gym-server/contract/item'
import type { Group } from '@reasoning-gym-server/contract/rollout'
import { getCorrectAnswer } from '@reasoning-gym-server/mock-model/answers'
import { hashToUnitInterval } from '@reasoning-gym-server/mock-model/behavior'
import { getAccuracyAt, type LearnerSkill } from '@reasoning-gym-server/mock-model/learner'

const STEEPNESS = 8

/** A task's own skill, the same in every simulation; `progress` from 0 to 1 is how far the learner has come. */
export function getSkill(task: string, progress = 0): LearnerSkill {
  return { midpoint: 0.3 + 0.45 * hashToUnitInterval('skill', task) + 0.15 * progress, steepness: STEEPNESS }
}

/** The difficulty at which a skill has an accuracy, within [0, 1]. */
export function getDifficultyFor({ midpoint: half, steepness }: LearnerSkill, accuracy: number): number {
  return Math.min(1, Math.max(0, half + Math.log(1 / accuracy - 1) / steepness))
}

/** A server as the learner speaks to it. */
export type ServerCall = (method: 'GET' | 'POST', path: string, body?: unknown) => Promise<unknown>

/** Completions for an item: as many right ones as the accuracy says, to the nearest. */
export async function generateCompletions(
  call: ServerCall,
  item: Item,
  size: number,
  accuracy: number,
): Promise<string[]> {
  const known = (await call('GET', `/items/${item.id}?reveal=true`)) as Parameters<typeof getCorrectAnswer>[0] // RevealedItem
  const right = getCorrectAnswer(known)
  if (right === undefined) throw new Error(`nobody can tell a right answer to ${item.task}`)
  const wanted = Math.round(accuracy * size)
  return Array.from({ length: size }, (_, k) => `<answer>${k < wanted ? right : 'no idea'}</answer>`)
}

/** Takes items, answers them, and waits until the groups are scored. */
export async function runLearnerStep(
  call: ServerCall,
  run: string,
  { count, size, skill = getSkill }: { count: number; size: number; skill?: (task: string) => LearnerSkill },
): Promise<Group[]> {
  const { items = [] } = (await call('POST', '/items', { run, count })) as { items?: Item[] } // as /items answers
  if (items.length === 0) return []
  const groups = await Promise.all(
    items.map(async (item) => {
      const completions = await generateCompletions(
        call,
        item,
        size,
        getAccuracyAt(skill(item.task), item.difficulty ?? 0),
      )
      return { item_id: item.id, buffer: false, rollouts: completions.map((completion) => ({ completion })) }
    }),
  )
  const posted = (await call('POST', '/rollouts', { run, groups })) as { groups: Group[] } // as /rollouts answers
  return posted.groups
}
