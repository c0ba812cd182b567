/** The hardened rule of each task. All tasks that are not listed have the library's rule, with near-misses forgiven. */
import type { DatasetEntry, ResolvedConfig } from '../scorer.ts'
import { aboveFloor, allOrNothing, caseInsensitiveTextOnly, exactTextOnly, sameTruthWord } from './all-or-nothing.ts'
import { hardenedDigitGrid, hardenedGameOfLife } from './boards.ts'
import { hardenedRubiksCube } from './cube.ts'
import { countdown, hardenedPolynomialMultiplication, puzzle24 } from './expressions.ts'
import type { HardenedScorer } from './hardened-scorer.ts'
import {
  hardenedAdvancedGeometry,
  hardenedCalendarArithmetic,
  hardenedCoinFlip,
  hardenedComplexArithmetic,
  hardenedDecimalArithmetic,
  hardenedGsmSymbolic,
  hardenedNumberSorting,
  hardenedPolynomialEquations,
  hardenedPrimeFactorization,
} from './numeric.ts'
import {
  hardenedEmojiMystery,
  hardenedFigletFont,
  hardenedLetterJumble,
  hardenedSentenceReordering,
  hardenedSpellBackward,
  hardenedWordSorting,
} from './partial-credit.ts'
import { boxnet, hardenedQuantumLock } from './plans.ts'
import { hardenedPropositionalLogic } from './propositional-logic.ts'

const HARDENED_SCORERS: Readonly<Record<string, HardenedScorer>> = {
  ab: allOrNothing,
  acre: allOrNothing,
  advanced_geometry: hardenedAdvancedGeometry,
  aiw: allOrNothing,
  arc_1d: exactTextOnly,
  arc_agi: aboveFloor(0.05),
  base_conversion: caseInsensitiveTextOnly,
  basic_arithmetic: allOrNothing,
  bf: exactTextOnly,
  binary_alternation: allOrNothing,
  bitwise_arithmetic: exactTextOnly,
  boxnet,
  caesar_cipher: exactTextOnly,
  calendar_arithmetic: hardenedCalendarArithmetic,
  chain_sum: allOrNothing,
  circuit_logic: allOrNothing,
  codeio: allOrNothing,
  coin_flip: hardenedCoinFlip,
  color_cube_rotation: allOrNothing,
  complex_arithmetic: hardenedComplexArithmetic,
  count_bits: allOrNothing,
  count_primes: allOrNothing,
  countdown,
  course_schedule: allOrNothing,
  cryptarithm: aboveFloor(0.01),
  decimal_arithmetic: hardenedDecimalArithmetic,
  decimal_chain_sum: allOrNothing,
  dice: allOrNothing,
  emoji_mystery: hardenedEmojiMystery,
  family_relationships: allOrNothing,
  figlet_font: hardenedFigletFont,
  fraction_simplification: allOrNothing,
  futoshiki: hardenedDigitGrid,
  game_of_life: hardenedGameOfLife,
  game_of_life_halting: sameTruthWord,
  gcd: allOrNothing,
  graph_color: aboveFloor(0.01),
  group_anagrams: aboveFloor(0.01),
  gsm_symbolic: hardenedGsmSymbolic,
  isomorphic_strings: allOrNothing,
  jugs: aboveFloor(0.01),
  knight_swap: aboveFloor(0.05),
  knights_knaves: allOrNothing,
  largest_island: allOrNothing,
  lcm: allOrNothing,
  leg_counting: allOrNothing,
  letter_counting: allOrNothing,
  letter_jumble: hardenedLetterJumble,
  list_functions: allOrNothing,
  mahjong_puzzle: allOrNothing,
  manipulate_matrix: allOrNothing,
  maze: allOrNothing,
  mini_sudoku: hardenedDigitGrid,
  modulo_grid: exactTextOnly,
  number_filtering: exactTextOnly,
  number_sequence: allOrNothing,
  number_sorting: hardenedNumberSorting,
  palindrome_generation: aboveFloor(0.05),
  polynomial_equations: hardenedPolynomialEquations,
  polynomial_multiplication: hardenedPolynomialMultiplication,
  pool_matrix: aboveFloor(0.1),
  power_function: aboveFloor(0.01),
  prime_factorization: hardenedPrimeFactorization,
  products: allOrNothing,
  propositional_logic: hardenedPropositionalLogic,
  puzzle24,
  quantum_lock: hardenedQuantumLock,
  ransom_note: allOrNothing,
  rearc: aboveFloor(0.05),
  rectangle_count: allOrNothing,
  rotate_matrix: exactTextOnly,
  rotten_oranges: allOrNothing,
  rubiks_cube: hardenedRubiksCube,
  rush_hour: aboveFloor(0.01),
  self_reference: allOrNothing,
  sentence_reordering: hardenedSentenceReordering,
  simple_equations: allOrNothing,
  simple_geometry: allOrNothing,
  spell_backward: hardenedSpellBackward,
  string_manipulation: exactTextOnly,
  string_splitting: exactTextOnly,
  string_synthesis: exactTextOnly,
  sudoku: hardenedDigitGrid,
  syllogism: allOrNothing,
  time_intervals: allOrNothing,
  tower_of_hanoi: aboveFloor(0.05),
  tsumego: allOrNothing,
  word_ladder: exactTextOnly,
  word_sequence_reversal: exactTextOnly,
  word_sorting: hardenedWordSorting,
  zebra_puzzles: allOrNothing,
}

const DEFAULT_HARDENED_SCORER = aboveFloor(0)

/**
 * The texts that a hardened rule scores with `upstream`. For tasks without a native scorer, the engine scores these texts first, and
 * `upstream` looks their scores up.
 */
export { listAnswerVariants } from './answer-variants.ts'

/**
 * The hardened rule of one item, from 0 to 1. `upstream` is the library's rule of the same item; the rule throws
 * InvalidAnswer where the library raises on every reading of the answer.
 */
export function createHardenedRule(
  task: string,
  item: { entry: DatasetEntry; config: ResolvedConfig; upstream: (text: string) => number },
): (answer: string) => number {
  const rule = (HARDENED_SCORERS[task] ?? DEFAULT_HARDENED_SCORER)(item)
  return (answer) => Math.min(1, Math.max(0, rule(answer)))
}
