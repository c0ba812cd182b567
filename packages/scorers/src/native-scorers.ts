/** The table of contents: which rule scores which task in TypeScript. */
import {
  caseInsensitiveMatch,
  circuitLogic,
  colorCubeRotation,
  exactMatch,
  familyRelationships,
  manipulateMatrix,
  needleHaystack,
  pathStar,
  substringMatch,
} from './exact.ts'
import { countdown } from './expressions/countdown.ts'
import { polynomialMultiplication } from './expressions/polynomial_multiplication.ts'
import { puzzle24 } from './expressions/puzzle24.ts'
import { arcBoard } from './grids/arc_board.ts'
import { digitGrid } from './grids/digit_grid.ts'
import { kakurasu } from './grids/kakurasu.ts'
import { poolMatrix } from './grids/pool_matrix.ts'
import { survo } from './grids/survo.ts'
import { knightsKnaves } from './logic/knights_knaves.ts'
import { propositionalLogic } from './logic/propositional_logic.ts'
import { advancedGeometry } from './numbers/advanced_geometry.ts'
import { bitwiseArithmetic } from './numbers/bitwise_arithmetic.ts'
import { calendarArithmetic } from './numbers/calendar_arithmetic.ts'
import { coinFlip } from './numbers/coin_flip.ts'
import { complexArithmetic } from './numbers/complex_arithmetic.ts'
import { decimalArithmetic } from './numbers/decimal_arithmetic.ts'
import { decimalChainSum } from './numbers/decimal_chain_sum.ts'
import { decimalValue } from './numbers/decimal_value.ts'
import { fractionSimplification } from './numbers/fraction_simplification.ts'
import { gameOfLifeHalting } from './numbers/game_of_life_halting.ts'
import { gsmSymbolic } from './numbers/gsm_symbolic.ts'
import { numberFormat } from './numbers/number_format.ts'
import { polynomialEquations } from './numbers/polynomial_equations.ts'
import { powerFunction } from './numbers/power_function.ts'
import { primeFactorization } from './numbers/prime_factorization.ts'
import { rectangleCount } from './numbers/rectangle_count.ts'
import { timeIntervals } from './numbers/time_intervals.ts'
import {
  emojiMystery,
  figletFont,
  letterJumble,
  palindromeGeneration,
  sentenceReordering,
  spellBackward,
  wordSorting,
} from './positions.ts'
import type { DatasetEntry, ResolvedConfig, Scorer } from './scorer.ts'
import { quantumLock } from './simulations/quantum_lock.ts'
import { rubiksCube } from './simulations/rubiks_cube.ts'
import { rushHour } from './simulations/rush_hour.ts'
import { shortestPath } from './simulations/shortest_path.ts'
import { sokoban } from './simulations/sokoban.ts'
import { towerOfHanoi } from './simulations/tower_of_hanoi.ts'
import { tsumego } from './simulations/tsumego.ts'
import { wordLadder } from './simulations/word_ladder.ts'
import { binaryMatrix } from './structures/binary_matrix.ts'
import { boxnet } from './structures/boxnet.ts'
import { cryptarithm } from './structures/cryptarithm.ts'
import { gameOfLife } from './structures/game_of_life.ts'
import { graphColor } from './structures/graph_color.ts'
import { groupAnagrams } from './structures/group_anagrams.ts'
import { jugs } from './structures/jugs.ts'
import { knightSwap } from './structures/knight_swap.ts'
import { nQueens } from './structures/n_queens.ts'
import { numberSorting } from './structures/number_sorting.ts'
import { palindromePartitioning } from './structures/palindrome_partitioning.ts'
import { spiralMatrix } from './structures/spiral_matrix.ts'
import { stringInsertion } from './structures/string_insertion.ts'

/** The rule of one item: the library's score of an answer, before clamping; throws InvalidAnswer where it raises. */
export type NativeRule = (answer: string, config: ResolvedConfig) => number

/** Reads an entry's metadata once; throws a ZodError on an entry that is not of the task. */
export type CompiledScorer = (entry: DatasetEntry) => NativeRule

function compileScorer<Metadata>(scorer: Scorer<Metadata>): CompiledScorer {
  return ({ answer: oracle, metadata }) => {
    const entry = { answer: oracle, metadata: scorer.metadata.parse(metadata) }
    return (answer, config) => scorer.score(answer, entry, config)
  }
}

const SUBSTRING_SCORER = compileScorer(substringMatch)

export const NATIVE_SCORERS: Readonly<Record<string, CompiledScorer>> = {
  ab: compileScorer(exactMatch),
  acre: SUBSTRING_SCORER,
  advanced_geometry: compileScorer(advancedGeometry),
  aiw: SUBSTRING_SCORER,
  arc_1d: SUBSTRING_SCORER,
  arc_agi: compileScorer(arcBoard),
  base_conversion: SUBSTRING_SCORER,
  basic_arithmetic: SUBSTRING_SCORER,
  bf: SUBSTRING_SCORER,
  binary_alternation: SUBSTRING_SCORER,
  binary_matrix: compileScorer(binaryMatrix),
  bitwise_arithmetic: compileScorer(bitwiseArithmetic),
  boxnet: compileScorer(boxnet),
  caesar_cipher: SUBSTRING_SCORER,
  calendar_arithmetic: compileScorer(calendarArithmetic),
  chain_sum: compileScorer(decimalValue),
  circuit_logic: compileScorer(circuitLogic),
  coin_flip: compileScorer(coinFlip),
  color_cube_rotation: compileScorer(colorCubeRotation),
  complex_arithmetic: compileScorer(complexArithmetic),
  count_bits: SUBSTRING_SCORER,
  count_primes: SUBSTRING_SCORER,
  countdown: compileScorer(countdown),
  course_schedule: SUBSTRING_SCORER,
  cryptarithm: compileScorer(cryptarithm),
  decimal_arithmetic: compileScorer(decimalArithmetic),
  decimal_chain_sum: compileScorer(decimalChainSum),
  dice: compileScorer(caseInsensitiveMatch),
  emoji_mystery: compileScorer(emojiMystery),
  family_relationships: compileScorer(familyRelationships),
  figlet_font: compileScorer(figletFont),
  fraction_simplification: compileScorer(fractionSimplification),
  futoshiki: compileScorer(digitGrid),
  game_of_life: compileScorer(gameOfLife),
  game_of_life_halting: compileScorer(gameOfLifeHalting),
  gcd: SUBSTRING_SCORER,
  graph_color: compileScorer(graphColor),
  group_anagrams: compileScorer(groupAnagrams),
  gsm_symbolic: compileScorer(gsmSymbolic),
  isomorphic_strings: SUBSTRING_SCORER,
  jugs: compileScorer(jugs),
  kakurasu: compileScorer(kakurasu),
  knight_swap: compileScorer(knightSwap),
  knights_knaves: compileScorer(knightsKnaves),
  largest_island: SUBSTRING_SCORER,
  lcm: SUBSTRING_SCORER,
  leg_counting: SUBSTRING_SCORER,
  letter_counting: SUBSTRING_SCORER,
  letter_jumble: compileScorer(letterJumble),
  list_functions: SUBSTRING_SCORER,
  mahjong_puzzle: SUBSTRING_SCORER,
  manipulate_matrix: compileScorer(manipulateMatrix),
  maze: SUBSTRING_SCORER,
  mini_sudoku: compileScorer(digitGrid),
  modulo_grid: SUBSTRING_SCORER,
  n_queens: compileScorer(nQueens),
  needle_haystack: compileScorer(needleHaystack),
  number_filtering: SUBSTRING_SCORER,
  number_format: compileScorer(numberFormat),
  number_sequence: SUBSTRING_SCORER,
  number_sorting: compileScorer(numberSorting),
  palindrome_generation: compileScorer(palindromeGeneration),
  palindrome_partitioning: compileScorer(palindromePartitioning),
  path_star: compileScorer(pathStar),
  polynomial_equations: compileScorer(polynomialEquations),
  polynomial_multiplication: compileScorer(polynomialMultiplication),
  pool_matrix: compileScorer(poolMatrix),
  power_function: compileScorer(powerFunction),
  prime_factorization: compileScorer(primeFactorization),
  products: compileScorer(decimalValue),
  propositional_logic: compileScorer(propositionalLogic),
  puzzle24: compileScorer(puzzle24),
  quantum_lock: compileScorer(quantumLock),
  ransom_note: SUBSTRING_SCORER,
  rearc: compileScorer(arcBoard),
  rectangle_count: compileScorer(rectangleCount),
  rotate_matrix: SUBSTRING_SCORER,
  rotten_oranges: SUBSTRING_SCORER,
  rubiks_cube: compileScorer(rubiksCube),
  rush_hour: compileScorer(rushHour),
  self_reference: compileScorer(exactMatch),
  sentence_reordering: compileScorer(sentenceReordering),
  shortest_path: compileScorer(shortestPath),
  simple_equations: SUBSTRING_SCORER,
  simple_geometry: SUBSTRING_SCORER,
  sokoban: compileScorer(sokoban),
  spell_backward: compileScorer(spellBackward),
  spiral_matrix: compileScorer(spiralMatrix),
  string_insertion: compileScorer(stringInsertion),
  string_manipulation: SUBSTRING_SCORER,
  string_splitting: SUBSTRING_SCORER,
  string_synthesis: SUBSTRING_SCORER,
  sudoku: compileScorer(digitGrid),
  survo: compileScorer(survo),
  syllogism: SUBSTRING_SCORER,
  time_intervals: compileScorer(timeIntervals),
  tower_of_hanoi: compileScorer(towerOfHanoi),
  tsumego: compileScorer(tsumego),
  word_ladder: compileScorer(wordLadder),
  word_sequence_reversal: SUBSTRING_SCORER,
  word_sorting: compileScorer(wordSorting),
  zebra_puzzles: compileScorer(caseInsensitiveMatch),
}

/** The tasks that are scored in TypeScript. */
export const NATIVE_TASKS: ReadonlySet<string> = new Set(Object.keys(NATIVE_SCORERS))
