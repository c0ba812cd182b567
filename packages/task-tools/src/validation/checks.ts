/**
 * The checks of OpenEnv's RFC 008 (severity policy v2) for a task: each has a figure and a bound, or the reason why it does not
 * apply to a task. docs/design/validation.md explains the figures.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '@reasoning-gym-server/contract/recipe'
import type { TaskCard } from '@reasoning-gym-server/contract/task'
import type { MeasuredRung, MeasuredTask } from './figures.ts'
import { buildTruthTable } from './truth-table.ts'

export type Scoring = 'upstream' | 'hardened'

/** What the checks need of a task card. */
export type RungFigures = Pick<
  TaskCard,
  | 'guess_floor'
  | 'guess_floor_stderr'
  | 'lookup_floor'
  | 'learned_floor'
  | 'best_attainable'
  | 'distinct_in_1000'
  | 'make_ms'
>

/** The defaults of the library, or a rung. */
export interface ValidatedRung {
  /** null for the defaults. */
  difficulty: number | null
  config: Config
  figures?: RungFigures | undefined
  measured?: MeasuredRung | undefined
}

interface Bound {
  min?: number
  max?: number
}

/** A figure of each rung, which all must be within the bound. */
interface RungCheck extends Bound {
  what: string
  remediation: string
  value: (rung: ValidatedRung, scoring: Scoring) => number | undefined
}

interface TaskRungs {
  task: string
  /** The defaults first. */
  rungs: readonly ValidatedRung[]
}

/** Figures of the whole task, the first of which must be within the bound. */
interface TaskCheck extends Bound {
  what: string
  remediation: string
  values: (measured: MeasuredTask, scoring: Scoring, of: TaskRungs) => Record<string, number> | string
}

/** Groups whose signal a run would learn from: of this size, by a policy that solves this share. */
const GROUP_SIZE = 8
const SOLVE_RATE = 0.5
/** Standard errors by which a harder rung may be easier to guess, as for the ladders. */
const MAX_STANDARD_ERRORS = 4
/** Guessing that earns this much hides no learning. */
const NEGLIGIBLE_FLOOR = 0.1

const ASKS_FOR_A_PART: ReadonlySet<string> = new Set(
  (
    'color_cube_rotation course_schedule game_of_life_halting isomorphic_strings mahjong_puzzle needle_haystack ' +
    'number_format ransom_note zebra_puzzles'
  ).split(' '),
)

export const RUNG_CHECKS: Readonly<Record<string, RungCheck>> = {
  'runtime.seed_control': {
    what: 'Share of different questions among 1,000 seeds',
    min: 0.5,
    value: ({ figures }) => figures && figures.distinct_in_1000 / 1000,
    remediation: 'Draw items from more numbers, words or shapes, and only from the seed.',
  },
  'semantic.oracle_max': {
    what: 'Mean score of the reference answers',
    min: 0.9,
    value: ({ figures }, scoring) => figures?.best_attainable[scoring],
    remediation: 'Give the reference answer of each item the score 1.',
  },
  'semantic.floor_gap': {
    what: 'Mean score of the reference answers above that of the best guess',
    min: 0.1,
    value: ({ figures }, scoring) => figures && figures.best_attainable[scoring] - figures.guess_floor[scoring],
    remediation: 'Ask for more than a few possible answers, or use hardened scoring.',
  },
  'semantic.resource_envelope': {
    what: 'Processor time to make an item, in milliseconds',
    max: 10_000,
    value: ({ figures }) => figures?.make_ms,
    remediation: 'Make items faster: the server ends an item at its deadline.',
  },
  'semantic.replayability': {
    what: 'Items that differ when another process with other string hashes makes them again, in the opposite order',
    max: 0,
    value: ({ measured }) => measured?.different,
    remediation: 'Derive everything from the seed: no time, no global random state, no order of a set.',
  },
  'statistical.reward_reachability': {
    what: 'Share of items whose reference answer earns the full reward',
    min: 0.9,
    value: ({ measured }, scoring) => measured && measured[`right_${scoring}`] / measured.answered,
    remediation: 'Make only items that can be solved, with a reference answer that scores 1.',
  },
  'statistical.headroom': {
    what: 'Mean score of the reference answers above guessing, looking up and a linear model',
    min: 0.25,
    value: ({ figures }, scoring) =>
      figures &&
      figures.best_attainable[scoring] -
        Math.max(figures.guess_floor[scoring], figures.lookup_floor[scoring], figures.learned_floor?.[scoring] ?? 0),
    remediation: 'Train on harder rungs, or leave the task out with the preset "clean".',
  },
  'statistical.variance_bound': {
    what: 'Standard deviation of the reward of the reference answers, at most that of rewards 0 and 1 with their mean',
    max: 0.2,
    value: ({ figures }, scoring) =>
      figures && Math.sqrt(figures.best_attainable[scoring] * (1 - figures.best_attainable[scoring])),
    remediation: 'Give equal answers equal scores, and each reference answer the score 1.',
  },
  'statistical.adversarial_floor': {
    what: 'Mean score of the best blind strategy that the search finds',
    max: 0.25,
    value: ({ figures }, scoring) => figures?.guess_floor[scoring],
    remediation: 'Use hardened scoring or harder rungs, or leave the task out with the preset "clean".',
  },
}

export const TASK_CHECKS: Readonly<Record<string, TaskCheck>> = {
  'runtime.reward_well_formed': {
    what: 'Labeled answers whose score is not a number from 0 to 1; with hardened scoring, there are none',
    max: 0,
    values: ({ scores }, scoring) => ({
      malformed: scoring === 'upstream' ? scores.malformed : 0,
      of_the_library: scores.malformed,
      answers: scores.answers,
    }),
    remediation: 'Return a score from 0 to 1 for every text.',
  },
  'semantic.canary_floor': {
    what: 'Mean score of blanks, constants and echoes of the question',
    max: 0.1,
    values: ({ scores, truth }, scoring) => ({ mean_score: scores.unsolved[scoring], answers: truth.unsolved.answers }),
    remediation: 'Give nothing to what is no answer, or use hardened scoring.',
  },
  'semantic.no_solution_leakage': {
    what: 'Share of questions that contain their answer (of at least four characters)',
    max: 0.5,
    values: ({ rungs }, _, { task }) => {
      if (ASKS_FOR_A_PART.has(task))
        return 'The task asks for a part of the question, or for one of the choices that it lists.'
      const items = rungs.reduce((sum, rung) => sum + rung.items, 0)
      return { share: rungs.reduce((sum, rung) => sum + rung.leaks, 0) / items, items }
    },
    remediation: 'Make sure that the question does not give the answer away.',
  },
  'semantic.verifier_determinism': {
    what: 'Labeled answers that score differently when scored again, in the opposite order',
    max: 0,
    values: ({ scores }) => ({ different: scores.unstable, answers: scores.answers }),
    remediation: 'Keep nothing between two answers, and use no random numbers.',
  },
  'semantic.verifier_portability': {
    what: 'Labeled answers that the library scores differently in another process with other string hashes',
    max: 0,
    values: ({ scores }) => ({ different: scores.unportable, answers: scores.answers }),
    remediation: 'Let the score depend only on the answer and the item.',
  },
  'statistical.difficulty_separation': {
    what: 'Rungs that are easier to guess than the rung below, by more than four standard errors',
    max: 0,
    values: (_, scoring, { rungs }) => compareRungs(rungs, scoring),
    remediation: 'Order the rungs from easiest to hardest.',
  },
  'statistical.training_signal': {
    what: 'Share of groups of 8 with different verdicts, at a solve rate of one half, times Youden’s J',
    min: 0.5,
    values: ({ truth }, scoring) => {
      const { true_positive_rate: tpr, false_positive_rate: fpr, youden_j: j } = buildTruthTable(truth, scoring)
      const paid = SOLVE_RATE * tpr.rate + (1 - SOLVE_RATE) * fpr.rate
      const groups = 1 - paid ** GROUP_SIZE - (1 - paid) ** GROUP_SIZE
      return {
        signal: Math.max(0, j.value) * groups,
        groups_with_signal: groups,
        youden_j: j.value,
        youden_j_low: j.low,
      }
    },
    remediation: 'Use hardened scoring, whose verdicts agree with the labels.',
  },
  'statistical.gameability_gap': {
    what: 'Share of wrong answers that count as correct',
    max: 0.01,
    values: ({ truth }, scoring) => {
      const { rate, low, high, n } = buildTruthTable(truth, scoring).false_positive_rate
      return { false_positive_rate: rate, low, high, answers: n }
    },
    remediation: 'Use hardened scoring, or accept only what solves the item.',
  },
}

/** Without the defaults, which are no rung. */
function compareRungs(all: readonly ValidatedRung[], scoring: Scoring): Record<string, number> | string {
  const rungs = all.filter(({ difficulty }) => difficulty !== null)
  if (rungs.length < 2) return 'The task has a single rung.'
  const inversions = rungs.slice(1).filter(({ figures }, k) => {
    const below = rungs[k]?.figures
    if (!figures || !below || figures.guess_floor[scoring] <= NEGLIGIBLE_FLOOR) return false
    const error = Math.hypot(figures.guess_floor_stderr[scoring], below.guess_floor_stderr[scoring])
    return figures.guess_floor[scoring] - below.guess_floor[scoring] > MAX_STANDARD_ERRORS * error
  })
  const first = rungs[0]?.measured?.size ?? 0
  const last = rungs.at(-1)?.measured?.size ?? 0
  return { inversions: inversions.length, rungs: rungs.length, characters_of_first: first, characters_of_last: last }
}

/** Why the other checks do not apply to a task, by ID. The file has the IDs by reason. */
export const SKIPPED_CHECKS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(
    JSON.parse(readFileSync(join(import.meta.dirname, 'skipped-checks.json'), 'utf8')) as Record<string, string[]>, // a file of this package
  ).flatMap(([reason, ids]) => ids.map((id) => [id, reason])),
)

/** IDs that the policy calls a warning or advisory; all others are failures. */
export const WARNING_CHECKS: ReadonlySet<string> = new Set([
  'statistical.headroom',
  'statistical.training_signal',
  'statistical.gameability_gap',
])
