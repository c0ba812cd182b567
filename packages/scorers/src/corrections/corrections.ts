/** The corrections of each task. A task that is not listed needs none: `npm run verify -- keys TASK` proves it. */
import { ZodError } from 'zod'
import { isScrambled } from '../hardened/plans.ts'
import { hasNovelConclusion } from '../hardened/propositional-logic.ts'
import { type DatasetEntry, listByName, listByTask } from '../scorer.ts'
import type { CorrectedItem, Correction } from './correction.ts'
import * as rules from './index.ts'

export const CORRECTIONS: Readonly<Record<string, Correction>> = {
  ...listByTask([['intermediate_integration simple_integration', rules.integration]]),
  ...listByName(
    rules,
    'advanced_geometry aiw arc_1d base_conversion basic_arithmetic bitwise_arithmetic caesar_cipher calendar_arithmetic',
    'circuit_logic codeio coin_flip color_cube_rotation countdown cryptarithm decimal_arithmetic emoji_mystery',
    'family_relationships figlet_font fraction_simplification game_of_life_halting graph_color group_anagrams gsm_symbolic jugs',
    'kakurasu knight_swap knights_knaves leg_counting letter_counting letter_jumble list_functions mahjong_puzzle',
    'manipulate_matrix modulo_grid needle_haystack number_filtering number_format number_sequence palindrome_generation',
    'palindrome_partitioning polynomial_equations polynomial_multiplication pool_matrix power_function puzzle24 quantum_lock rearc',
    'rectangle_count rush_hour sentence_reordering simple_equations simple_geometry sokoban spell_backward',
    'string_insertion string_manipulation string_synthesis survo syllogism time_intervals tower_of_hanoi tsumego',
    'word_sequence_reversal word_sorting',
  ),
  ab: {
    reason: 'Where all tokens vanish, the key is empty: no answer at all is right.',
    hasRightAnswer: ({ answer }) => answer !== '',
  },
  rubiks_cube: {
    reason:
      'Turns such as “2R” and “R2′” are passed over, combined turns are paid, and some scrambles undo themselves.',
    hasRightAnswer: isScrambled,
  },
  propositional_logic: {
    reason: 'Premises that contradict each other, or from which nothing new follows, leave no conclusion to find.',
    hasRightAnswer: hasNovelConclusion,
  },
}

/** Whether hardened scoring pays any answer to an item. Without one it teaches nothing, so a run with that scoring passes it over. */
export function isAnswerable(task: string, entry: DatasetEntry): boolean {
  return unlessUnreadable(() => CORRECTIONS[task]?.hasRightAnswer?.(entry)) ?? true
}

/** Whether some items of a task may have no right answer. */
export function mayLackRightAnswer(task: string): boolean {
  return CORRECTIONS[task]?.hasRightAnswer !== undefined
}

/** The sentence that settles the reading of an item's question; null where one reading is enough. */
export function getClarification(task: string, entry: DatasetEntry): string | null {
  return unlessUnreadable(() => CORRECTIONS[task]?.clarification?.(entry)) ?? null
}

/** Metadata with whole numbers above 2^53 cannot be read; scoring then says so. */
function unlessUnreadable<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof ZodError) return undefined
    throw error
  }
}

/** The library's key, or the first right one where it is wrong; null where the task has none or only a search finds one. */
export function getRightKey(task: string, item: CorrectedItem): string | null {
  const correction = CORRECTIONS[task]
  const [key = item.entry.answer] = correction?.keys?.(item) ?? []
  return key === null || correction?.decide?.(item)(key) === false ? null : key
}

/** Why an item is not one to measure a model with, whatever the scoring: no answer is right, its key is wrong, or its question has two readings. */
export type ItemFlaw = 'no_right_answer' | 'wrong_key' | 'several_readings'

export function findItemFlaw(task: string, item: CorrectedItem): ItemFlaw | undefined {
  const correction = CORRECTIONS[task]
  const { entry } = item
  if (correction?.hasRightAnswer?.(entry) === false) return 'no_right_answer'
  const keys = correction?.keys?.(item)
  if (entry.answer !== null) {
    const isKey = keys?.includes(entry.answer) ?? true
    if (!isKey || correction?.decide?.(item)(entry.answer) === false) return 'wrong_key'
  }
  return correction?.clarification?.(entry) === undefined ? undefined : 'several_readings'
}
