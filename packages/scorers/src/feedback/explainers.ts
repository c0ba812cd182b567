/** The explainer of each task of the library: what is wrong with an answer, as far as the question alone can tell. */
import { strip } from '../python/text.ts'
import { listByName, listByTask } from '../scorer.ts'
import * as arithmetic from './arithmetic.ts'
import * as boardMoves from './board-moves.ts'
import { choiceAnswer, gridAnswer, integerAnswer, numberAnswer, patternAnswer } from './forms.ts'
import * as logic from './logic.ts'
import * as matrices from './matrices.ts'
import * as numberLists from './number-lists.ts'
import * as puzzles from './number-puzzles.ts'
import * as numbers from './numbers.ts'
import * as plans from './plans.ts'
import { type AnswerCheck, brokenRule, type Explainer, formatFault, QuestionError } from './violation.ts'
import * as words from './words.ts'

/** For tasks of whose questions the form of the answer does not depend. */
function always(check: AnswerCheck): Explainer {
  return () => check
}

const count = integerAnswer((value) =>
  value < 0n ? brokenRule(`The answer is ${value}, but a count is not negative.`) : undefined,
)
const counts = (columns: number) => gridAnswer({ rows: 1, columns, cell: /^\d+$/, noun: 'count' })
const word = patternAnswer(/^\S+$/, 'one word')
const someText: AnswerCheck = (answer) => (strip(answer) === '' ? formatFault('The answer is empty.') : undefined)

export const EXPLAINERS: Readonly<Record<string, Explainer>> = {
  ...listByTask([
    [
      'aiw count_bits count_primes largest_island leg_counting letter_counting maze rectangle_count self_reference',
      always(count),
    ],
    ['basic_arithmetic binary_alternation number_sequence products rotten_oranges', always(integerAnswer())],
    [
      'chain_sum coin_flip decimal_arithmetic decimal_chain_sum gsm_symbolic power_function simple_geometry',
      always(numberAnswer()),
    ],
    ['color_cube_rotation needle_haystack zebra_puzzles', always(word)],
    ['bf codeio emoji_mystery', always(someText)],
    ['course_schedule game_of_life_halting isomorphic_strings ransom_note', always(choiceAnswer('True', 'False'))],
    ['arc_agi rearc', matrices.arcBoard],
    ['mini_sudoku sudoku', puzzles.sudoku],
    ['intermediate_integration simple_integration', arithmetic.integration],
  ]),
  ...listByName(
    numbers,
    'advanced_geometry calendar_arithmetic fraction_simplification gcd lcm prime_factorization simple_equations time_intervals',
  ),
  ...listByName(matrices, 'binary_matrix game_of_life pool_matrix rotate_matrix spiral_matrix'),
  ...listByName(plans, 'boxnet jugs quantum_lock rubiks_cube word_ladder'),
  ...listByName(
    words,
    'group_anagrams letter_jumble palindrome_generation palindrome_partitioning sentence_reordering spell_backward word_sorting',
  ),
  ...listByName(
    arithmetic,
    'complex_arithmetic countdown cryptarithm polynomial_equations polynomial_multiplication puzzle24',
  ),
  ...listByName(puzzles, 'futoshiki kakurasu modulo_grid n_queens survo'),
  ...listByName(logic, 'graph_color knights_knaves propositional_logic tsumego'),
  ...listByName(boardMoves, 'knight_swap path_star rush_hour shortest_path sokoban tower_of_hanoi'),
  ...listByName(numberLists, 'number_filtering number_format number_sorting'),
  ab: words.abPrograms,
  acre: always(choiceAnswer('on', 'off', 'undetermined')),
  arc_1d: always(gridAnswer({ rows: 1, cell: /^\d$/, noun: 'number' })),
  base_conversion: always(patternAnswer(/^[0-9a-z]+$/, 'digits and lowercase letters alone')),
  bitwise_arithmetic: always(patternAnswer(/^-?0x[0-9a-f]+$/i, 'a hexadecimal number such as 0x1f')),
  caesar_cipher: always(patternAnswer(/^[A-Z ]+$/, 'uppercase letters and spaces alone')),
  circuit_logic: always(choiceAnswer('0', '1')),
  dice: always(patternAnswer(/^\d{1,40}\/\d{1,40}$/, 'a fraction such as 1/60')),
  family_relationships: always(patternAnswer(/^[A-Za-z-]+$/, 'one word')),
  figlet_font: always(patternAnswer(/^[A-Za-z ]+$/, 'letters alone')),
  list_functions: always(patternAnswer(/^\[(?:-?\d+(?:, -?\d+)*)?\]$/, 'a list such as [1, 2]')),
  manipulate_matrix: always(gridAnswer({ cell: /^-?\d+$/, noun: 'number' })),
  mahjong_puzzle: always(choiceAnswer('Peng', 'Chi', 'Pass')),
  string_insertion: always(patternAnswer(/^[A-E]+$/, 'letters from A to E alone')),
  string_manipulation: always(patternAnswer(/^[a-z]*$/, 'one string of lowercase letters')),
  string_splitting: always(counts(6)),
  string_synthesis: always(counts(9)),
  syllogism: always(choiceAnswer('Yes', 'No')),
  word_sequence_reversal: words.wordReversal,
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
