/** The item that the examples of the API documents show, with completions of it. */
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import { ENGINE_VERSION } from '../../engine/version.ts'

export const EXAMPLE_RECIPE = { task: 'leg_counting', seed: 42 }
export const EXAMPLE_ITEM_ID = encodeItemId({
  ...EXAMPLE_RECIPE,
  index: 0,
  config: {},
  difficulty: null,
  engine: ENGINE_VERSION,
})
export const EXAMPLE_QUESTION =
  'Your task is to count how many legs there are in total when given a list of animals.\n\nNow, how many legs are there in total if you have 3 sea slugs, 12 deers, 2 giraffes, 11 elephants?\n'
export const CORRECT_COMPLETION =
  '<think>12 deers, 2 giraffes and 11 elephants have 4 legs each.</think> <answer>100</answer>'
export const WRONG_COMPLETION = '<think>Sea slugs have one leg each …</think> <answer>103</answer>'
