/**
 * What the frozen suites are made of. A change is a new suite with a new name, never the old one made otherwise: the script
 * leaves those alone that the manifest lists. `easy-2` and `hard-2` have no plan: they were made on ladders that have changed
 * since.
 */
import { type Config, EVAL_SEEDS_START } from '@reasoning-gym-server/contract/recipe'
import { TASK_NAMES } from '../../src/features/tasks/built-in-tasks.ts'
import type { Ladders } from '../../src/features/tasks/ladders.ts'

/** Items of one task: the first `count` that can be made, from index 0 of the dataset with this seed. */
export interface SuitePart {
  task: string
  config: Config
  difficulty: number | null
  seed: number
  count: number
}

export interface SuitePlan {
  name: string
  version: number
  description: string
  source: SuiteSource
}

/** Parts; or a frozen suite, with another item of the same config for each one that has a flaw. No question comes twice. */
export type SuiteSource = { kind: 'parts'; parts: SuitePart[] } | { kind: 'mended'; of: string }

/** `random.Random(42).sample(sorted(all tasks), 20)` of Python. */
const ORIGINAL_TASKS = [
  'aiw',
  'arc_1d',
  'bitwise_arithmetic',
  'caesar_cipher',
  'calendar_arithmetic',
  'codeio',
  'decimal_chain_sum',
  'dice',
  'emoji_mystery',
  'figlet_font',
  'game_of_life_halting',
  'maze',
  'palindrome_partitioning',
  'power_function',
  'products',
  'ransom_note',
  'rectangle_count',
  'rush_hour',
  'simple_geometry',
  'string_synthesis',
]

/** Quick to make and of many categories. */
const SMOKE_TASKS = [
  'basic_arithmetic',
  'chain_sum',
  'leg_counting',
  'gcd',
  'count_bits',
  'time_intervals',
  'spell_backward',
  'letter_counting',
  'caesar_cipher',
  'word_sorting',
  'base_conversion',
  'simple_equations',
  'polynomial_equations',
  'propositional_logic',
  'knights_knaves',
  'countdown',
  'mini_sudoku',
  'course_schedule',
  'number_sequence',
  'coin_flip',
]

/** Next versions of frozen suites, once flaws were found in some items. */
const MENDED = [
  ['original-2', 2, 'original'],
  ['smoke-2', 2, 'smoke'],
  ['full-2', 2, 'full'],
  ['ladder-3', 3, 'ladder-2'],
  ['easy-3', 3, 'easy-2'],
  ['hard-3', 3, 'hard-2'],
] as const

const LADDER_DIFFICULTIES = [0, 0.5, 1]

const SORTED_TASKS = TASK_NAMES.toSorted()

export function buildSuitePlans(ladders: Ladders): SuitePlan[] {
  const byDefault = (task: string, seed: number, count: number): SuitePart => ({
    task,
    seed,
    count,
    config: {},
    difficulty: null,
  })
  const atDifficulty = (task: string, difficulty: number, seed: number, count: number): SuitePart => ({
    task,
    difficulty,
    seed,
    count,
    config: ladders.configAt(task, difficulty),
  })
  const frozen = (parts: SuitePart[]): SuiteSource => ({ kind: 'parts', parts })
  return [
    {
      name: 'original',
      version: 1,
      description: 'The original environment’s own eval: 20 tasks, 5 items each, library defaults',
      source: frozen(ORIGINAL_TASKS.map((task) => byDefault(task, EVAL_SEEDS_START + 123, 5))),
    },
    {
      name: 'full',
      version: 1,
      description: 'Every task, 10 items each, library defaults: the one to follow a training run with',
      source: frozen(SORTED_TASKS.map((task) => byDefault(task, EVAL_SEEDS_START + 1000, 10))),
    },
    {
      name: 'smoke',
      version: 1,
      description: '20 items of 20 quick tasks: whether everything is connected',
      source: frozen(SMOKE_TASKS.map((task) => byDefault(task, EVAL_SEEDS_START + 3000, 1))),
    },
    {
      name: 'ladder-2',
      version: 2,
      description:
        'Every adjustable task at difficulty 0, 0.5 and 1 of the mended ladders, 3 items each, no question twice',
      source: {
        kind: 'parts',
        parts: SORTED_TASKS.filter((task) => ladders.rungs(task).length > 1).flatMap((task) =>
          LADDER_DIFFICULTIES.map((difficulty) => atDifficulty(task, difficulty, EVAL_SEEDS_START + 4000, 3)),
        ),
      },
    },
    ...MENDED.map(([name, version, of]): SuitePlan => {
      const flaws = 'items of which the key is wrong, the question has two readings or no answer is right'
      return { name, version, description: `The suite ${of} without ${flaws}`, source: { kind: 'mended', of } }
    }),
  ]
}
