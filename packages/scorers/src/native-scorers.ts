/** The table of contents: which rule scores which task in TypeScript. */
import { rubiksCube } from './cube.ts'
import * as expressions from './expressions/scorers.ts'
import * as grids from './grids.ts'
import { integration } from './integration/scorers.ts'
import * as lists from './lists.ts'
import * as logic from './logic.ts'
import * as moves from './moves.ts'
import * as numbers from './numbers.ts'
import * as puzzles from './puzzles.ts'
import * as quantities from './quantities.ts'
import { listByTask, type PartialScorer, type TaskScorer } from './scorer.ts'
import * as texts from './texts.ts'

export const NATIVE_SCORERS: Readonly<Record<string, TaskScorer>> = {
  ...listByTask([
    ['ab self_reference', texts.exactMatch],
    [
      'acre aiw arc_1d base_conversion basic_arithmetic bf binary_alternation caesar_cipher count_bits count_primes ' +
        'course_schedule gcd isomorphic_strings largest_island lcm leg_counting letter_counting list_functions ' +
        'mahjong_puzzle maze modulo_grid number_filtering number_sequence ransom_note rotate_matrix rotten_oranges ' +
        'simple_equations simple_geometry string_manipulation string_splitting string_synthesis syllogism ' +
        'word_sequence_reversal',
      texts.substringMatch,
    ],
    ['arc_agi rearc', grids.arcBoard],
    ['chain_sum products', numbers.decimalValue],
    ['dice zebra_puzzles', texts.caseInsensitiveMatch],
    ['futoshiki mini_sudoku sudoku', grids.digitGrid],
  ]),
  advanced_geometry: quantities.advancedGeometry,
  binary_matrix: lists.binaryMatrix,
  bitwise_arithmetic: numbers.bitwiseArithmetic,
  boxnet: puzzles.boxnet,
  calendar_arithmetic: quantities.calendarArithmetic,
  circuit_logic: texts.circuitLogic,
  coin_flip: numbers.coinFlip,
  color_cube_rotation: texts.colorCubeRotation,
  complex_arithmetic: numbers.complexArithmetic,
  countdown: expressions.countdown,
  cryptarithm: puzzles.cryptarithm,
  decimal_arithmetic: numbers.decimalArithmetic,
  decimal_chain_sum: numbers.decimalChainSum,
  emoji_mystery: texts.emojiMystery,
  family_relationships: texts.familyRelationships,
  figlet_font: texts.figletFont,
  fraction_simplification: quantities.fractionSimplification,
  game_of_life: lists.gameOfLife,
  game_of_life_halting: texts.gameOfLifeHalting,
  graph_color: puzzles.graphColor,
  group_anagrams: lists.groupAnagrams,
  gsm_symbolic: numbers.gsmSymbolic,
  jugs: puzzles.jugs,
  kakurasu: grids.kakurasu,
  knight_swap: puzzles.knightSwap,
  knights_knaves: logic.knightsKnaves,
  letter_jumble: texts.letterJumble,
  manipulate_matrix: texts.manipulateMatrix,
  n_queens: lists.nQueens,
  needle_haystack: texts.needleHaystack,
  number_format: numbers.numberFormat,
  number_sorting: lists.numberSorting,
  palindrome_generation: texts.palindromeGeneration,
  palindrome_partitioning: lists.palindromePartitioning,
  path_star: texts.pathStar,
  polynomial_equations: quantities.polynomialEquations,
  polynomial_multiplication: expressions.polynomialMultiplication,
  pool_matrix: grids.poolMatrix,
  power_function: numbers.powerFunction,
  prime_factorization: quantities.primeFactorization,
  propositional_logic: logic.propositionalLogic,
  puzzle24: expressions.puzzle24,
  quantum_lock: moves.quantumLock,
  rectangle_count: numbers.rectangleCount,
  rubiks_cube: rubiksCube,
  rush_hour: moves.rushHour,
  sentence_reordering: texts.sentenceReordering,
  shortest_path: moves.shortestPath,
  sokoban: moves.sokoban,
  spell_backward: texts.spellBackward,
  spiral_matrix: lists.spiralMatrix,
  string_insertion: lists.stringInsertion,
  survo: grids.survo,
  time_intervals: quantities.timeIntervals,
  tower_of_hanoi: moves.towerOfHanoi,
  tsumego: texts.tsumego,
  word_ladder: moves.wordLadder,
  word_sorting: texts.wordSorting,
}

/** The tasks that are scored in TypeScript. */
export const NATIVE_TASKS: ReadonlySet<string> = new Set(Object.keys(NATIVE_SCORERS))

/** For tasks that the library scores: which rule decides the answers that need no library. */
export const PARTIAL_SCORERS: Readonly<Record<string, PartialScorer>> = {
  intermediate_integration: integration,
  simple_integration: integration,
}
