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
  /** Lengths by the number of their bucket. */
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
  /** Rewards, and lengths of correct and other scored rollouts, by the number of their bin. */
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

/** The bins show how distributions move over training. They are coarse, so that a group adds few sums. */
export const REWARD_BINS = 10
/** The last bin has all lengths above 2^19. */
export const LENGTH_BINS = 21

/** Bins of equal width over [0, 1]. The first also has all rewards below it, the last has 1 and all above it. */
export function getRewardBin(reward: number): number {
  return Math.min(REWARD_BINS - 1, Math.max(0, Math.floor(reward * REWARD_BINS + 1e-9)))
}

/** Bin k has the lengths above 2^(k-1), up to 2^k; bin 0 has 0 and 1. */
export function getLengthBin(length: number): number {
  return length <= 1 ? 0 : Math.min(LENGTH_BINS - 1, 32 - Math.clz32(length - 1))
}

/** Buckets of lengths grow by 5%, so that a percentile is accurate to 5% for any number of lengths. */
const LOG_BUCKET_GROWTH = Math.log(1.05)

/** The field that counts a length. */
export function formatLengthBucketField(length: number): string {
  return formatSumField('length_buckets', length <= 0 ? 0 : Math.ceil(Math.log(length) / LOG_BUCKET_GROWTH) + 1)
}

/** The percentile at `fraction`, as the upper edge of its bucket; null without any lengths. */
export function lengthPercentile(sums: Record<string, number>, fraction: number): number | null {
  const buckets = listSums('length_buckets', sums)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .toSorted(([a], [b]) => a - b)
  let remaining = buckets.reduce((sum, [, count]) => sum + count, 0) * fraction
  for (const [bucket, count] of buckets) {
    remaining -= count
    if (remaining <= 1e-9) return bucket === 0 ? 0 : Math.round(Math.exp((bucket - 1) * LOG_BUCKET_GROWTH))
  }
  return null
}
