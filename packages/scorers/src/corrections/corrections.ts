/** The corrections of each task, one file each. A task that is not listed needs none: `npm run verify -- keys TASK` proves it. */
import { ZodError } from 'zod'
import { hasNovelConclusion } from '../hardened/propositional-logic.ts'
import type { DatasetEntry } from '../scorer.ts'
import { correction as ab } from './ab.ts'
import { correction as aiw } from './aiw.ts'
import * as algebra from './algebra.ts'
import { arc1d, rearc } from './arc.ts'
import { coinFlip, decimalArithmetic, powerFunction } from './arithmetic.ts'
import { correction as calendarArithmetic } from './calendar-arithmetic.ts'
import { correction as circuitLogic } from './circuit-logic.ts'
import { correction as codeio } from './codeio.ts'
import { correction as colorCubeRotation } from './color-cube-rotation.ts'
import type { CorrectedItem, Correction } from './correction.ts'
import { countdown, puzzle24 } from './countdown.ts'
import { correction as cryptarithm } from './cryptarithm.ts'
import { correction as familyRelationships } from './family-relationships.ts'
import { correction as figletFont } from './figlet-font.ts'
import { correction as fractionSimplification } from './fraction-simplification.ts'
import { correction as gameOfLifeHalting } from './game-of-life-halting.ts'
import { advancedGeometry, simpleGeometry } from './geometry.ts'
import { correction as graphColor } from './graph-color.ts'
import { correction as gsmSymbolic } from './gsm-symbolic.ts'
import { correction as integration } from './integration.ts'
import { correction as jugs } from './jugs.ts'
import { correction as kakurasu } from './kakurasu.ts'
import { correction as knightSwap } from './knight-swap.ts'
import { correction as knightsKnaves } from './knights-knaves.ts'
import { letterJumble } from './letter-jumble.ts'
import { correction as listFunctions } from './list-functions.ts'
import { correction as mahjongPuzzle } from './mahjong-puzzle.ts'
import { correction as manipulateMatrix } from './manipulate-matrix.ts'
import { correction as moduloGrid } from './modulo-grid.ts'
import { correction as needleHaystack } from './needle-haystack.ts'
import { correction as numberFiltering } from './number-filtering.ts'
import { correction as numberFormat } from './number-format.ts'
import { correction as numberSequence } from './number-sequence.ts'
import { correction as poolMatrix } from './pool-matrix.ts'
import { correction as quantumLock } from './quantum-lock.ts'
import { correction as rectangleCount } from './rectangle-count.ts'
import { correction as rubiksCube } from './rubiks-cube.ts'
import { correction as rushHour } from './rush-hour.ts'
import { correction as sokoban } from './sokoban.ts'
import * as stringRules from './string-rules.ts'
import { correction as survo } from './survo.ts'
import { correction as syllogism } from './syllogism.ts'
import * as textLists from './text-lists.ts'
import * as texts from './texts.ts'
import { correction as timeIntervals } from './time-intervals.ts'
import { correction as towerOfHanoi } from './tower-of-hanoi.ts'
import { correction as tsumego } from './tsumego.ts'

export const CORRECTIONS: Readonly<Record<string, Correction>> = {
  ab,
  advanced_geometry: advancedGeometry,
  aiw,
  arc_1d: arc1d,
  base_conversion: algebra.baseConversion,
  basic_arithmetic: algebra.basicArithmetic,
  bitwise_arithmetic: algebra.bitwiseArithmetic,
  caesar_cipher: texts.caesarCipher,
  calendar_arithmetic: calendarArithmetic,
  circuit_logic: circuitLogic,
  codeio,
  coin_flip: coinFlip,
  color_cube_rotation: colorCubeRotation,
  countdown,
  cryptarithm,
  decimal_arithmetic: decimalArithmetic,
  emoji_mystery: texts.emojiMystery,
  family_relationships: familyRelationships,
  figlet_font: figletFont,
  fraction_simplification: fractionSimplification,
  game_of_life_halting: gameOfLifeHalting,
  graph_color: graphColor,
  group_anagrams: textLists.groupAnagrams,
  gsm_symbolic: gsmSymbolic,
  intermediate_integration: integration,
  jugs,
  kakurasu,
  knight_swap: knightSwap,
  knights_knaves: knightsKnaves,
  leg_counting: algebra.legCounting,
  letter_counting: texts.letterCounting,
  letter_jumble: letterJumble,
  list_functions: listFunctions,
  mahjong_puzzle: mahjongPuzzle,
  manipulate_matrix: manipulateMatrix,
  modulo_grid: moduloGrid,
  needle_haystack: needleHaystack,
  number_filtering: numberFiltering,
  number_format: numberFormat,
  number_sequence: numberSequence,
  palindrome_generation: texts.palindromeGeneration,
  palindrome_partitioning: textLists.palindromePartitioning,
  polynomial_equations: algebra.polynomialEquations,
  polynomial_multiplication: algebra.polynomialMultiplication,
  pool_matrix: poolMatrix,
  power_function: powerFunction,
  propositional_logic: {
    reason: 'Premises that contradict each other, or from which nothing new follows, leave no conclusion to find.',
    hasRightAnswer: hasNovelConclusion,
  },
  puzzle24,
  quantum_lock: quantumLock,
  rearc,
  rectangle_count: rectangleCount,
  rubiks_cube: rubiksCube,
  rush_hour: rushHour,
  sentence_reordering: texts.sentenceReordering,
  simple_equations: algebra.simpleEquations,
  simple_geometry: simpleGeometry,
  simple_integration: integration,
  sokoban,
  spell_backward: texts.spellBackward,
  string_insertion: stringRules.stringInsertion,
  string_manipulation: stringRules.stringManipulation,
  string_synthesis: stringRules.stringSynthesis,
  survo,
  syllogism,
  time_intervals: timeIntervals,
  tower_of_hanoi: towerOfHanoi,
  tsumego,
  word_sequence_reversal: texts.wordSequenceReversal,
  word_sorting: texts.wordSorting,
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
