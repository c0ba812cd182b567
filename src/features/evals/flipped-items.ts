/** Lists the items whose result flipped between two evals: one model is right, the other wrong. */

import { SampleId } from '@reasoning-gym-server/contract/eval'
import { decodeItemId, ItemId } from '@reasoning-gym-server/contract/item-id'
import { Difficulty } from '@reasoning-gym-server/contract/recipe'
import { z } from 'zod'
import type { ItemOutcome, ItemPair } from './eval-pairing.ts'

export const RightIn = z
  .enum(['a', 'b'])
  .describe(
    'The eval in which more than half of the scored samples of the item are correct (a score of at least 0.99).',
  )

const FlippedSide = z
  .strictObject({
    sample_id: SampleId.describe('First sample with this result.'),
    score: z.number().describe('Mean score of the item’s samples.'),
    samples: z.int().min(1).describe('Number of scored samples of the item.'),
    answer: z.string().nullable().describe('Answer extracted from that sample; null if there is none.'),
  })
  .meta({ id: 'FlippedSide', description: 'Result of an item in one of two evals.' })

export const FlippedItem = z
  .strictObject({
    item_id: ItemId,
    task: z.string().describe('Name of the task.'),
    difficulty: Difficulty.nullable().describe('Difficulty of the item; null for library defaults or a config.'),
    right_in: RightIn,
    a: FlippedSide.describe('Result in the first eval.'),
    b: FlippedSide.describe('Result in the second eval.'),
  })
  .meta({ id: 'FlippedItem', description: 'An item that one eval has right and the other wrong.' })
export type FlippedItem = z.infer<typeof FlippedItem>

export interface FlippedItemFilter {
  task?: string | undefined
  right_in?: 'a' | 'b' | undefined
  limit: number
}

/** Whether one model is right about the item and the other wrong. */
export function getRightSide({ a, b }: ItemPair): 'a' | 'b' | undefined {
  if (a.correct === b.correct) return undefined
  return a.correct ? 'a' : 'b'
}

/** Counts the flipped items by the eval that has them right. */
export function countFlips(pairs: readonly ItemPair[]): { only_a_right: number; only_b_right: number } {
  const sides = pairs.map(getRightSide)
  return {
    only_a_right: sides.filter((side) => side === 'a').length,
    only_b_right: sides.filter((side) => side === 'b').length,
  }
}

/** Lists flipped items in the order of the suite. */
export function listFlippedItems(
  pairs: readonly ItemPair[],
  { task, right_in, limit }: FlippedItemFilter,
): FlippedItem[] {
  return pairs
    .flatMap((pair): FlippedItem[] => {
      const side = getRightSide(pair)
      if (side === undefined || (task !== undefined && task !== pair.task)) return []
      if (right_in !== undefined && right_in !== side) return []
      const { item_id, a, b } = pair
      const { difficulty } = decodeItemId(item_id)
      return [{ item_id, task: pair.task, difficulty, right_in: side, a: describeSide(a), b: describeSide(b) }]
    })
    .slice(0, limit)
}

function describeSide({ scores, mean, example }: ItemOutcome): z.infer<typeof FlippedSide> {
  return { sample_id: `s${example.sample}`, score: mean, samples: scores.length, answer: example.answer }
}
