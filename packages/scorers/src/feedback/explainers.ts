/** The explainer of each task of the library: what is wrong with an answer, as far as the question alone can tell. */
import { strip } from '../python/text.ts'
import { listByTask } from '../scorer.ts'
import * as arithmetic from './arithmetic.ts'
import * as boardMoves from './board-moves.ts'
import { choiceAnswer, gridAnswer, integerAnswer, numberAnswer, patternAnswer } from './forms.ts'
import * as logic from './logic.ts'
import * as matrices from './matrices.ts'
import * as numberLists from './number-lists.ts'
import * as puzzles from './number-puzzles.ts'
import * as numbers from './numbers.ts'
import * as plans from './plans.ts'
import { type AnswerCheck, type Explainer, formatFault, QuestionError } from './violation.ts'
import * as words from './words.ts'

/** For tasks of whose questions the form of the answer does not depend. */
function always(check: AnswerCheck): Explainer {
  return () => check
}

const count = numbers.countAnswer(0n, 10n ** 18n, 'a count is not negative')
const counts = (columns: number) => gridAnswer({ rows: 1, columns, cell: /^\d+$/, noun: 'count' })
const someText: AnswerCheck = (answer) => (strip(answer) === '' ? formatFault('The answer is empty.') : undefined)

export const EXPLAINERS: Readonly<Record<string, Explainer>> = {
  ...listByTask([
    ['aiw leg_counting rectangle_count self_reference', always(count)],
    ['basic_arithmetic number_sequence products', always(integerAnswer())],
    ['chain_sum decimal_arithmetic decimal_chain_sum gsm_symbolic power_function', always(numberAnswer())],
    ['bf codeio', always(someText)],
    ['course_schedule game_of_life_halting isomorphic_strings ransom_note', always(choiceAnswer('True', 'False'))],
    ['arc_agi rearc', matrices.arcBoard],
    ['mini_sudoku sudoku', puzzles.sudoku],
    ['intermediate_integration simple_integration', arithmetic.integration],
  ]),
  ab: words.abPrograms,
  acre: always(choiceAnswer('on', 'off', 'undetermined')),
  advanced_geometry: numbers.advancedGeometry,
  arc_1d: matrices.arc1d,
  base_conversion: numbers.baseConversion,
  binary_alternation: numbers.binaryAlternation,
  binary_matrix: matrices.binaryMatrix,
  bitwise_arithmetic: always(patternAnswer(/^-?0x[0-9a-f]+$/i, 'a hexadecimal number such as 0x1f')),
  boxnet: plans.boxnet,
  caesar_cipher: words.caesarCipher,
  calendar_arithmetic: numbers.calendarArithmetic,
  circuit_logic: always(choiceAnswer('0', '1')),
  coin_flip: always(numbers.probability),
  color_cube_rotation: words.colorCube,
  complex_arithmetic: arithmetic.complexArithmetic,
  count_bits: numbers.countBits,
  count_primes: numbers.countPrimes,
  countdown: arithmetic.countdown,
  cryptarithm: arithmetic.cryptarithm,
  dice: numbers.dice,
  emoji_mystery: words.emojiMystery,
  family_relationships: always(patternAnswer(/^[A-Za-z-]+$/, 'one word')),
  figlet_font: always(patternAnswer(/^[A-Za-z ]+$/, 'letters alone')),
  fraction_simplification: numbers.fractionSimplification,
  futoshiki: puzzles.futoshiki,
  game_of_life: matrices.gameOfLife,
  gcd: numbers.gcd,
  graph_color: logic.graphColor,
  group_anagrams: words.groupAnagrams,
  jugs: plans.jugs,
  kakurasu: puzzles.kakurasu,
  knight_swap: boardMoves.knightSwap,
  knights_knaves: logic.knightsKnaves,
  largest_island: numbers.largestIsland,
  lcm: numbers.lcm,
  letter_counting: numbers.letterCounting,
  letter_jumble: words.letterJumble,
  list_functions: always(patternAnswer(/^\[(?:-?\d+(?:, -?\d+)*)?\]$/, 'a list such as [1, 2]')),
  mahjong_puzzle: always(choiceAnswer('Peng', 'Chi', 'Pass')),
  manipulate_matrix: matrices.manipulateMatrix,
  maze: numbers.maze,
  modulo_grid: puzzles.moduloGrid,
  n_queens: puzzles.nQueens,
  needle_haystack: words.needleHaystack,
  number_filtering: numberLists.numberFiltering,
  number_format: numberLists.numberFormat,
  number_sorting: numberLists.numberSorting,
  palindrome_generation: words.palindromeGeneration,
  palindrome_partitioning: words.palindromePartitioning,
  path_star: boardMoves.pathStar,
  polynomial_equations: arithmetic.polynomialEquations,
  polynomial_multiplication: arithmetic.polynomialMultiplication,
  pool_matrix: matrices.poolMatrix,
  prime_factorization: numbers.primeFactorization,
  propositional_logic: logic.propositionalLogic,
  puzzle24: arithmetic.puzzle24,
  quantum_lock: plans.quantumLock,
  rotate_matrix: matrices.rotateMatrix,
  rotten_oranges: numbers.rottenOranges,
  rubiks_cube: plans.rubiksCube,
  rush_hour: boardMoves.rushHour,
  sentence_reordering: words.sentenceReordering,
  shortest_path: boardMoves.shortestPath,
  simple_equations: numbers.simpleEquations,
  simple_geometry: numbers.simpleGeometry,
  sokoban: boardMoves.sokoban,
  spell_backward: words.spellBackward,
  spiral_matrix: matrices.spiralMatrix,
  string_insertion: words.stringInsertion,
  string_manipulation: words.stringManipulation,
  string_splitting: always(counts(6)),
  string_synthesis: always(counts(9)),
  survo: puzzles.survo,
  syllogism: always(choiceAnswer('Yes', 'No')),
  time_intervals: numbers.timeIntervals,
  tower_of_hanoi: boardMoves.towerOfHanoi,
  tsumego: logic.tsumego,
  word_ladder: plans.wordLadder,
  word_sequence_reversal: words.wordReversal,
  word_sorting: words.wordSorting,
  zebra_puzzles: words.zebraPuzzles,
}

/** The check of the answers to a question; undefined where the task has none, or its question another form than the library’s. */
export function bindExplainer(task: string, question: string): AnswerCheck | undefined {
  try {
    return EXPLAINERS[task]?.(question)
  } catch (error) {
    if (error instanceof QuestionError) return undefined
    throw error
  }
}
