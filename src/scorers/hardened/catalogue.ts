/** The table of contents: which holes are closed how, by task. All other tasks have the library's rule, near-misses forgiven. */
import type { Entry, FullConfig } from '../scorer.ts'
import { above, allOrNothing, caselessly, onlyRight, sameVerdict } from './all_or_nothing.ts'
import { digitGrid, gameOfLife } from './boards.ts'
import { propositionalLogic } from './conclusions.ts'
import { rubiksCube } from './cube.ts'
import { countdown, polynomialMultiplication, puzzle24 } from './expressions.ts'
import type { Hardening } from './hardening.ts'
import {
  advancedGeometry,
  calendarArithmetic,
  coinFlip,
  complexArithmetic,
  decimalArithmetic,
  gsmSymbolic,
  numberSorting,
  polynomialEquations,
  primeFactorization,
} from './nearness.ts'
import { emojiMystery, figletFont, letterJumble, sentenceReordering, spellBackward, wordSorting } from './past_half.ts'
import { boxnet, quantumLock } from './plans.ts'

const HARDENED: Readonly<Record<string, Hardening>> = {
  ab: allOrNothing,
  acre: allOrNothing,
  advanced_geometry: advancedGeometry,
  aiw: allOrNothing,
  arc_1d: onlyRight,
  arc_agi: above(0.05),
  base_conversion: caselessly,
  basic_arithmetic: allOrNothing,
  bf: onlyRight,
  binary_alternation: allOrNothing,
  bitwise_arithmetic: onlyRight,
  boxnet,
  caesar_cipher: onlyRight,
  calendar_arithmetic: calendarArithmetic,
  chain_sum: allOrNothing,
  circuit_logic: allOrNothing,
  codeio: allOrNothing,
  coin_flip: coinFlip,
  color_cube_rotation: allOrNothing,
  complex_arithmetic: complexArithmetic,
  count_bits: allOrNothing,
  count_primes: allOrNothing,
  countdown,
  course_schedule: allOrNothing,
  cryptarithm: above(0.01),
  decimal_arithmetic: decimalArithmetic,
  decimal_chain_sum: allOrNothing,
  dice: allOrNothing,
  emoji_mystery: emojiMystery,
  family_relationships: allOrNothing,
  figlet_font: figletFont,
  fraction_simplification: allOrNothing,
  futoshiki: digitGrid,
  game_of_life: gameOfLife,
  game_of_life_halting: sameVerdict,
  gcd: allOrNothing,
  graph_color: above(0.01),
  group_anagrams: above(0.01),
  gsm_symbolic: gsmSymbolic,
  isomorphic_strings: allOrNothing,
  jugs: above(0.01),
  knight_swap: above(0.05),
  knights_knaves: allOrNothing,
  largest_island: allOrNothing,
  lcm: allOrNothing,
  leg_counting: allOrNothing,
  letter_counting: allOrNothing,
  letter_jumble: letterJumble,
  list_functions: allOrNothing,
  mahjong_puzzle: allOrNothing,
  manipulate_matrix: allOrNothing,
  maze: allOrNothing,
  mini_sudoku: digitGrid,
  modulo_grid: onlyRight,
  number_filtering: onlyRight,
  number_sequence: allOrNothing,
  number_sorting: numberSorting,
  palindrome_generation: above(0.05),
  polynomial_equations: polynomialEquations,
  polynomial_multiplication: polynomialMultiplication,
  pool_matrix: above(0.1),
  power_function: above(0.01),
  prime_factorization: primeFactorization,
  products: allOrNothing,
  propositional_logic: propositionalLogic,
  puzzle24,
  quantum_lock: quantumLock,
  ransom_note: allOrNothing,
  rearc: above(0.05),
  rectangle_count: allOrNothing,
  rotate_matrix: onlyRight,
  rotten_oranges: allOrNothing,
  rubiks_cube: rubiksCube,
  rush_hour: above(0.01),
  self_reference: allOrNothing,
  sentence_reordering: sentenceReordering,
  simple_equations: allOrNothing,
  simple_geometry: allOrNothing,
  spell_backward: spellBackward,
  string_manipulation: onlyRight,
  string_splitting: onlyRight,
  string_synthesis: onlyRight,
  sudoku: digitGrid,
  syllogism: allOrNothing,
  time_intervals: allOrNothing,
  tower_of_hanoi: above(0.05),
  tsumego: allOrNothing,
  word_ladder: onlyRight,
  word_sequence_reversal: onlyRight,
  word_sorting: wordSorting,
  zebra_puzzles: allOrNothing,
}

const NEAR_MISSES_FORGIVEN = above(0)

/**
 * The texts that the rule of a task without a scorer here asks `upstream` for: with the library's scores of these in a
 * map, `harden` works for tasks that the Python hosts score.
 */
export { readingsOf } from './readings.ts'

/**
 * The hardened rule of one item, from 0 to 1. `upstream` is the library's rule of the same item; the rule throws
 * InvalidAnswer where the library raises on every reading of the answer.
 */
export function harden(
  task: string,
  item: { entry: Entry; config: FullConfig; upstream: (text: string) => number },
): (answer: string) => number {
  const rule = (HARDENED[task] ?? NEAR_MISSES_FORGIVEN)(item)
  return (answer) => Math.min(1, Math.max(0, rule(answer)))
}
