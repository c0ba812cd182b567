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
  ...listByName(
    numbers,
    'advanced_geometry base_conversion binary_alternation calendar_arithmetic count_bits count_primes dice fraction_simplification',
    'gcd largest_island lcm letter_counting maze prime_factorization rotten_oranges simple_equations simple_geometry',
    'time_intervals',
  ),
  ...listByName(
    matrices,
    'arc_1d binary_matrix game_of_life manipulate_matrix pool_matrix rotate_matrix spiral_matrix',
  ),
  ...listByName(plans, 'boxnet jugs quantum_lock rubiks_cube word_ladder'),
  ...listByName(
    words,
    'caesar_cipher emoji_mystery group_anagrams letter_jumble needle_haystack palindrome_generation palindrome_partitioning',
    'sentence_reordering spell_backward string_insertion string_manipulation word_sorting zebra_puzzles',
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
  bitwise_arithmetic: always(patternAnswer(/^-?0x[0-9a-f]+$/i, 'a hexadecimal number such as 0x1f')),
  circuit_logic: always(choiceAnswer('0', '1')),
  coin_flip: always(numbers.probability),
  color_cube_rotation: words.colorCube,
  family_relationships: always(patternAnswer(/^[A-Za-z-]+$/, 'one word')),
  figlet_font: always(patternAnswer(/^[A-Za-z ]+$/, 'letters alone')),
  list_functions: always(patternAnswer(/^\[(?:-?\d+(?:, -?\d+)*)?\]$/, 'a list such as [1, 2]')),
  mahjong_puzzle: always(choiceAnswer('Peng', 'Chi', 'Pass')),
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
