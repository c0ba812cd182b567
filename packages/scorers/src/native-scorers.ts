/** The table of contents: which rule scores which task in TypeScript. */
import { codeio } from './codeio/scorer.ts'
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
import { listByName, listByTask, type PartialScorer, type TaskScorer } from './scorer.ts'
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
  ...listByName(
    quantities,
    'advanced_geometry calendar_arithmetic fraction_simplification polynomial_equations prime_factorization time_intervals',
  ),
  ...listByName(
    lists,
    'binary_matrix game_of_life group_anagrams n_queens number_sorting palindrome_partitioning spiral_matrix string_insertion',
  ),
  ...listByName(
    numbers,
    'bitwise_arithmetic coin_flip complex_arithmetic decimal_arithmetic decimal_chain_sum gsm_symbolic number_format',
    'power_function rectangle_count',
  ),
  ...listByName(puzzles, 'boxnet cryptarithm graph_color jugs knight_swap'),
  ...listByName(
    texts,
    'circuit_logic color_cube_rotation emoji_mystery family_relationships figlet_font game_of_life_halting letter_jumble',
    'manipulate_matrix needle_haystack palindrome_generation path_star sentence_reordering spell_backward tsumego word_sorting',
  ),
  ...listByName(expressions, 'countdown polynomial_multiplication puzzle24'),
  ...listByName(grids, 'kakurasu pool_matrix survo'),
  ...listByName(logic, 'knights_knaves propositional_logic'),
  ...listByName(moves, 'quantum_lock rush_hour shortest_path sokoban tower_of_hanoi word_ladder'),
  rubiks_cube: rubiksCube,
}

/** The tasks that are scored in TypeScript. */
export const NATIVE_TASKS: ReadonlySet<string> = new Set(Object.keys(NATIVE_SCORERS))

/** For tasks that the library scores: which rule decides the answers that need no library. */
export const PARTIAL_SCORERS: Readonly<Record<string, PartialScorer>> = {
  codeio,
  intermediate_integration: integration,
  simple_integration: integration,
}
