/** The item of the examples, and a completion that answers it. */
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import { ENGINE_VERSION } from '../src/engine/version.ts'

export const RECIPE = { task: 'leg_counting', seed: 42 }
export const ITEM_ID = encodeItemId({
  ...RECIPE,
  index: 0,
  config: {},
  difficulty: null,
  engine: ENGINE_VERSION,
})
export const QUESTION =
  'Your task is to count how many legs there are in total when given a list of animals.\n\nNow, how many legs are there in total if you have 3 sea slugs, 12 deers, 2 giraffes, 11 elephants?\n'
export const CORRECT_COMPLETION =
  '<think>12 deers, 2 giraffes and 11 elephants have 4 legs each.</think> <answer>100</answer>'
