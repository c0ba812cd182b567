/** The hardened rule of each task. All tasks that are not listed have the library's rule, with near-misses forgiven. */
import type { CorrectedItem } from '../corrections/correction.ts'
import { CORRECTIONS } from '../corrections/corrections.ts'
import { NATIVE_SCORERS } from '../native-scorers.ts'
import { listByName, listByTask } from '../scorer.ts'
import { aboveFloor, allOrNothing, caseInsensitiveTextOnly, exactTextOnly, sameTruthWord } from './all-or-nothing.ts'
import * as expressions from './expressions.ts'
import { type HardenedScorer, type HardenedScorerInput, scoreBest } from './hardened-scorer.ts'
import { listReadings } from './notations.ts'
import * as numeric from './numeric.ts'
import * as partial from './partial-credit.ts'
import * as plans from './plans.ts'
import { propositionalLogic } from './propositional-logic.ts'

const HARDENED_SCORERS: Readonly<Record<string, HardenedScorer>> = {
  ...listByTask([
    [
      'ab acre aiw basic_arithmetic binary_alternation chain_sum circuit_logic codeio color_cube_rotation ' +
        'coin_flip count_bits count_primes course_schedule decimal_arithmetic decimal_chain_sum dice family_relationships ' +
        'gcd isomorphic_strings knights_knaves largest_island lcm leg_counting letter_counting list_functions ' +
        'mahjong_puzzle manipulate_matrix maze number_sequence products ransom_note rectangle_count rotten_oranges ' +
        'self_reference simple_equations simple_geometry syllogism tsumego zebra_puzzles',
      allOrNothing,
    ],
    [
      'arc_1d bf bitwise_arithmetic caesar_cipher modulo_grid number_filtering rotate_matrix string_manipulation ' +
        'string_splitting string_synthesis word_ladder word_sequence_reversal',
      exactTextOnly,
    ],
    ['arc_agi knight_swap palindrome_generation rearc tower_of_hanoi', aboveFloor(0.05)],
    ['cryptarithm graph_color group_anagrams jugs power_function rush_hour', aboveFloor(0.01)],
    ['futoshiki mini_sudoku sudoku', partial.digitGrid],
    ['intermediate_integration simple_integration', expressions.integration],
  ]),
  ...listByName(
    numeric,
    'advanced_geometry calendar_arithmetic complex_arithmetic fraction_simplification gsm_symbolic',
    'number_sorting polynomial_equations prime_factorization time_intervals',
  ),
  ...listByName(plans, 'boxnet quantum_lock rubiks_cube'),
  ...listByName(expressions, 'countdown polynomial_multiplication puzzle24'),
  ...listByName(
    partial,
    'emoji_mystery figlet_font game_of_life letter_jumble sentence_reordering spell_backward word_sorting',
  ),
  base_conversion: caseInsensitiveTextOnly,
  game_of_life_halting: sameTruthWord,
  pool_matrix: aboveFloor(0.1),
  propositional_logic: propositionalLogic,
}

const DEFAULT_HARDENED_SCORER = aboveFloor(0)

/**
 * The hardened rule of one item, from 0 to 1. `upstream` is the library's rule of the same item; the rule throws
 * InvalidAnswer where the library raises on every reading of the answer.
 */
export function createHardenedRule(task: string, item: HardenedScorerInput): (answer: string) => number {
  const correction = CORRECTIONS[task]
  const create = HARDENED_SCORERS[task] ?? DEFAULT_HARDENED_SCORER
  const keys = correction?.keys?.(item)
  const rules = keys
    ? keys.map((key) => ({ key, rule: create(replaceKey(task, item, key)) }))
    : [{ key: item.entry.answer, rule: create(item) }]
  const decide = correction?.decide?.(item)
  const read = createReader(task, item)
  return (answer) => {
    const verdict = decide && decideBest(decide, read(answer))
    if (verdict !== undefined) return verdict ? 1 : 0
    return Math.max(0, ...rules.map(({ key, rule }) => scoreBest(read(answer, key), rule)))
  }
}

/** The readings of answers that a rule asks `upstream` for: those that no correction decides. */
export function listUndecidedReadings(task: string, item: CorrectedItem, answers: readonly string[]): string[] {
  const decide = CORRECTIONS[task]?.decide?.(item)
  const read = createReader(task, item)
  const readings = answers.map((answer) => read(answer))
  const undecided = decide ? readings.filter((texts) => decideBest(decide, texts) === undefined) : readings
  return [...new Set(undecided.flat())]
}

/** The readings of an answer by a key. To codeio, other brackets or quotes are other JSON, and `1e3` may have base 16. */
export function createReader(task: string, { entry }: Pick<CorrectedItem, 'entry'>) {
  const isText = (answer: string) => task === 'codeio' || (task === 'base_conversion' && /\de\d/i.test(answer))
  return (answer: string, key = entry.answer) => listReadings(answer, isText(answer) ? null : key, entry.question)
}

/** Right if one reading is; else what is decided of the barest. */
function decideBest(decide: (answer: string) => boolean | undefined, readings: readonly string[]): boolean | undefined {
  return readings.some((reading) => decide(reading) === true) ? true : decide(readings.at(-1) ?? '')
}

/** The item with another key, by which the library's own rule then scores. */
function replaceKey(task: string, { entry, config }: HardenedScorerInput, answer: string): HardenedScorerInput {
  const corrected = { ...entry, answer }
  const native = NATIVE_SCORERS[task]?.(corrected)
  if (native === undefined) throw new Error(`${task} has no native scorer, so its key cannot be replaced`)
  return { entry: corrected, config, upstream: (text) => native(text, config) }
}
