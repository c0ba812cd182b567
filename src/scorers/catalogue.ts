/** The table of contents: which rule scores which task in TypeScript. */
import { caseless } from './exact/caseless.ts'
import { circuitLogic } from './exact/circuit_logic.ts'
import { equal } from './exact/equal.ts'
import { manipulateMatrix } from './exact/manipulate_matrix.ts'
import { needleHaystack } from './exact/needle_haystack.ts'
import { pathStar } from './exact/path_star.ts'
import { colorCubeRotation, familyRelationships } from './exact/stripped.ts'
import { substring } from './exact/substring.ts'
import { countdown } from './expressions/countdown.ts'
import { polynomialMultiplication } from './expressions/polynomial_multiplication.ts'
import { puzzle24 } from './expressions/puzzle24.ts'
import { board } from './grids/board.ts'
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
import { emojiMystery } from './positions/emoji_mystery.ts'
import { figletFont } from './positions/figlet_font.ts'
import { letterJumble } from './positions/letter_jumble.ts'
import { palindromeGeneration } from './positions/palindrome_generation.ts'
import { sentenceReordering } from './positions/sentence_reordering.ts'
import { spellBackward } from './positions/spell_backward.ts'
import { wordSorting } from './positions/word_sorting.ts'
import type { Entry, FullConfig, Scorer } from './scorer.ts'
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
export type Rule = (answer: string, config: FullConfig) => number

/** Reads an entry's metadata once; throws a ZodError on an entry that is not of the task. */
export type ReadEntry = (entry: Entry) => Rule

function compile<Metadata>(scorer: Scorer<Metadata>): ReadEntry {
  return ({ answer: oracle, metadata }) => {
    const entry = { answer: oracle, metadata: scorer.metadata.parse(metadata) }
    return (answer, config) => scorer.score(answer, entry, config)
  }
}

const BASE = compile(substring)

export const SCORERS: Readonly<Record<string, ReadEntry>> = {
  ab: compile(equal),
  acre: BASE,
  advanced_geometry: compile(advancedGeometry),
  aiw: BASE,
  arc_1d: BASE,
  arc_agi: compile(board),
  base_conversion: BASE,
  basic_arithmetic: BASE,
  bf: BASE,
  binary_alternation: BASE,
  binary_matrix: compile(binaryMatrix),
  bitwise_arithmetic: compile(bitwiseArithmetic),
  boxnet: compile(boxnet),
  caesar_cipher: BASE,
  calendar_arithmetic: compile(calendarArithmetic),
  chain_sum: compile(decimalValue),
  circuit_logic: compile(circuitLogic),
  coin_flip: compile(coinFlip),
  color_cube_rotation: compile(colorCubeRotation),
  complex_arithmetic: compile(complexArithmetic),
  count_bits: BASE,
  count_primes: BASE,
  countdown: compile(countdown),
  course_schedule: BASE,
  cryptarithm: compile(cryptarithm),
  decimal_arithmetic: compile(decimalArithmetic),
  decimal_chain_sum: compile(decimalChainSum),
  dice: compile(caseless),
  emoji_mystery: compile(emojiMystery),
  family_relationships: compile(familyRelationships),
  figlet_font: compile(figletFont),
  fraction_simplification: compile(fractionSimplification),
  futoshiki: compile(digitGrid),
  game_of_life: compile(gameOfLife),
  game_of_life_halting: compile(gameOfLifeHalting),
  gcd: BASE,
  graph_color: compile(graphColor),
  group_anagrams: compile(groupAnagrams),
  gsm_symbolic: compile(gsmSymbolic),
  isomorphic_strings: BASE,
  jugs: compile(jugs),
  kakurasu: compile(kakurasu),
  knight_swap: compile(knightSwap),
  knights_knaves: compile(knightsKnaves),
  largest_island: BASE,
  lcm: BASE,
  leg_counting: BASE,
  letter_counting: BASE,
  letter_jumble: compile(letterJumble),
  list_functions: BASE,
  mahjong_puzzle: BASE,
  manipulate_matrix: compile(manipulateMatrix),
  maze: BASE,
  mini_sudoku: compile(digitGrid),
  modulo_grid: BASE,
  n_queens: compile(nQueens),
  needle_haystack: compile(needleHaystack),
  number_filtering: BASE,
  number_format: compile(numberFormat),
  number_sequence: BASE,
  number_sorting: compile(numberSorting),
  palindrome_generation: compile(palindromeGeneration),
  palindrome_partitioning: compile(palindromePartitioning),
  path_star: compile(pathStar),
  polynomial_equations: compile(polynomialEquations),
  polynomial_multiplication: compile(polynomialMultiplication),
  pool_matrix: compile(poolMatrix),
  power_function: compile(powerFunction),
  prime_factorization: compile(primeFactorization),
  products: compile(decimalValue),
  propositional_logic: compile(propositionalLogic),
  puzzle24: compile(puzzle24),
  quantum_lock: compile(quantumLock),
  ransom_note: BASE,
  rearc: compile(board),
  rectangle_count: compile(rectangleCount),
  rotate_matrix: BASE,
  rotten_oranges: BASE,
  rubiks_cube: compile(rubiksCube),
  rush_hour: compile(rushHour),
  self_reference: compile(equal),
  sentence_reordering: compile(sentenceReordering),
  shortest_path: compile(shortestPath),
  simple_equations: BASE,
  simple_geometry: BASE,
  sokoban: compile(sokoban),
  spell_backward: compile(spellBackward),
  spiral_matrix: compile(spiralMatrix),
  string_insertion: compile(stringInsertion),
  string_manipulation: BASE,
  string_splitting: BASE,
  string_synthesis: BASE,
  sudoku: compile(digitGrid),
  survo: compile(survo),
  syllogism: BASE,
  time_intervals: compile(timeIntervals),
  tower_of_hanoi: compile(towerOfHanoi),
  tsumego: compile(tsumego),
  word_ladder: compile(wordLadder),
  word_sequence_reversal: BASE,
  word_sorting: compile(wordSorting),
  zebra_puzzles: compile(caseless),
}

/** The tasks that are scored in TypeScript. */
export const NATIVE_TASKS: ReadonlySet<string> = new Set(Object.keys(SCORERS))
