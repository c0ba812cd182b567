/** The table of contents: which rule scores which task in TypeScript. */
import { caseless } from './exact/caseless.ts'
import { circuitLogic } from './exact/circuit_logic.ts'
import { equal } from './exact/equal.ts'
import { manipulateMatrix } from './exact/manipulate_matrix.ts'
import { needleHaystack } from './exact/needle_haystack.ts'
import { pathStar } from './exact/path_star.ts'
import { colorCubeRotation, familyRelationships } from './exact/stripped.ts'
import { substring } from './exact/substring.ts'
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
import type { Entry, FullConfig, Scorer } from './scorer.ts'

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
  base_conversion: BASE,
  basic_arithmetic: BASE,
  bf: BASE,
  binary_alternation: BASE,
  bitwise_arithmetic: compile(bitwiseArithmetic),
  caesar_cipher: BASE,
  calendar_arithmetic: compile(calendarArithmetic),
  chain_sum: compile(decimalValue),
  circuit_logic: compile(circuitLogic),
  coin_flip: compile(coinFlip),
  color_cube_rotation: compile(colorCubeRotation),
  complex_arithmetic: compile(complexArithmetic),
  count_bits: BASE,
  count_primes: BASE,
  course_schedule: BASE,
  decimal_arithmetic: compile(decimalArithmetic),
  decimal_chain_sum: compile(decimalChainSum),
  dice: compile(caseless),
  family_relationships: compile(familyRelationships),
  fraction_simplification: compile(fractionSimplification),
  game_of_life_halting: compile(gameOfLifeHalting),
  gcd: BASE,
  gsm_symbolic: compile(gsmSymbolic),
  isomorphic_strings: BASE,
  largest_island: BASE,
  lcm: BASE,
  leg_counting: BASE,
  letter_counting: BASE,
  list_functions: BASE,
  mahjong_puzzle: BASE,
  manipulate_matrix: compile(manipulateMatrix),
  maze: BASE,
  modulo_grid: BASE,
  needle_haystack: compile(needleHaystack),
  number_filtering: BASE,
  number_format: compile(numberFormat),
  number_sequence: BASE,
  path_star: compile(pathStar),
  polynomial_equations: compile(polynomialEquations),
  power_function: compile(powerFunction),
  prime_factorization: compile(primeFactorization),
  products: compile(decimalValue),
  ransom_note: BASE,
  rectangle_count: compile(rectangleCount),
  rotate_matrix: BASE,
  rotten_oranges: BASE,
  self_reference: compile(equal),
  simple_equations: BASE,
  simple_geometry: BASE,
  string_manipulation: BASE,
  string_splitting: BASE,
  string_synthesis: BASE,
  syllogism: BASE,
  time_intervals: compile(timeIntervals),
  word_sequence_reversal: BASE,
  zebra_puzzles: compile(caseless),
}

/** The tasks that are scored in TypeScript. */
export const NATIVE_TASKS: ReadonlySet<string> = new Set(Object.keys(SCORERS))
