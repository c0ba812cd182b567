/**
 * The sums that groups are reduced to, declared once: the reducer adds to these fields, and the stored records of tasks and
 * steps have the same. A family has one sum for each name; its fields are the prefix followed by the name.
 */
const COUNT = { kind: 'counter' } as const
const SUM = { kind: 'sum' } as const

export const GROUP_SUMS = {
  groups: COUNT,
  rollouts: COUNT,
  scored: COUNT,
  unscored: COUNT,
  score: SUM,
  reward: SUM,
  reward_squares: SUM,
  correct: COUNT,
  signal: COUNT,
  length_count: COUNT,
  length_sum: SUM,
  /** Lengths by the number of their bucket (length-buckets.ts). */
  length_buckets: { kind: 'counters', prefix: 'length_bucket:', names: /^\d{1,4}$/ },
  skipped: COUNT,
  masked: COUNT,
  truncated: COUNT,
  /** By code. */
  format_errors: { kind: 'counters', prefix: 'format_error:', names: /^\w{1,100}$/ },
  /** By task. */
  task_scored: { kind: 'counters', prefix: 'task_scored:', names: /^\w{1,100}$/ },
  task_reward: { kind: 'sums', prefix: 'task_reward:', names: /^\w{1,100}$/ },
  task_score: { kind: 'sums', prefix: 'task_score:', names: /^\w{1,100}$/ },
  task_correct: { kind: 'counters', prefix: 'task_correct:', names: /^\w{1,100}$/ },
  /** Groups by their numbers of correct and of scored rollouts, as `3_of_8` (pass-at-k.ts). */
  outcomes: { kind: 'counters', prefix: 'outcome:', names: /^\d{1,5}_of_\d{1,5}$/ },
  /** Rewards, and lengths of correct and other scored rollouts, by the number of their bin (distributions.ts). */
  reward_bins: { kind: 'counters', prefix: 'reward_bin:', names: /^\d$/ },
  correct_lengths: { kind: 'counters', prefix: 'correct_length:', names: /^\d{1,2}$/ },
  wrong_lengths: { kind: 'counters', prefix: 'wrong_length:', names: /^\d{1,2}$/ },
} as const

type Sums = typeof GROUP_SUMS
type SumFamily = { [N in keyof Sums]: Sums[N] extends { prefix: string } ? N : never }[keyof Sums]
export type SumField = Exclude<keyof Sums, SumFamily>

/** The field of one name of a family. */
export function formatSumField(family: SumFamily, name: string | number): string {
  return GROUP_SUMS[family].prefix + name
}

/** The sums of a family, by name. */
export function listSums(family: SumFamily, sums: Readonly<Record<string, number>>): [name: string, sum: number][] {
  const { prefix } = GROUP_SUMS[family]
  return Object.entries(sums)
    .filter(([field]) => field.startsWith(prefix))
    .map(([field, sum]) => [field.slice(prefix.length), sum])
}
