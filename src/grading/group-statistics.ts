/**
 * Reduces groups to sums, and sums to metrics. A batch reduces its groups at once. A step and a task add up the sums of
 * their groups in Redis, field by field, and compute the metrics from the totals.
 */
import type { GroupSummary } from '@reasoning-gym-server/contract/batch'
import { FormatFault } from '@reasoning-gym-server/contract/verdict'
import { meanOfSum, populationStdOfSums } from './statistics.ts'
import { TRAINING_CORRECT_THRESHOLD } from './verdict.ts'

const COUNT = { kind: 'counter' } as const
const SUM = { kind: 'sum' } as const

/**
 * The sums that groups are reduced to, declared once: the reducer adds to these fields, and the stored sums of tasks and
 * steps have the same. A family has one sum for each name; its fields are the prefix followed by the name.
 */
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
  /** Of `scored` and `score`, the skipped rollouts, which a group's mean score leaves out. */
  skipped_scored: COUNT,
  skipped_score: SUM,
  masked: COUNT,
  truncated: COUNT,
  /** Wrong at the first try, and right at a later one. */
  recovered: COUNT,
  /** Number of rollouts with each format fault. */
  format_faults: { kind: 'counters', prefix: 'format_fault:', names: /^\w{1,100}$/ },
  /** Sums over the rollouts of each task. */
  task_scored: { kind: 'counters', prefix: 'task_scored:', names: /^\w{1,100}$/ },
  task_reward: { kind: 'sums', prefix: 'task_reward:', names: /^\w{1,100}$/ },
  task_score: { kind: 'sums', prefix: 'task_score:', names: /^\w{1,100}$/ },
  task_correct: { kind: 'counters', prefix: 'task_correct:', names: /^\w{1,100}$/ },
  task_length_count: { kind: 'counters', prefix: 'task_length_count:', names: /^\w{1,100}$/ },
  task_length: { kind: 'sums', prefix: 'task_length:', names: /^\w{1,100}$/ },
  /** Groups of each task with a scored rollout, and their squared mean rewards, each times its number of scored rollouts. */
  task_groups: { kind: 'counters', prefix: 'task_groups:', names: /^\w{1,100}$/ },
  task_reward_squares: { kind: 'sums', prefix: 'task_reward_squares:', names: /^\w{1,100}$/ },
  /** Groups by their numbers of correct and of scored rollouts, as `3_of_8`. */
  outcomes: { kind: 'counters', prefix: 'outcome:', names: /^\d{1,5}_of_\d{1,5}$/ },
  /** Rewards, and lengths of correct and other scored rollouts, by the number of their bin. */
  reward_bins: { kind: 'counters', prefix: 'reward_bin:', names: /^\d$/ },
  correct_lengths: { kind: 'counters', prefix: 'correct_length:', names: /^\d{1,2}$/ },
  wrong_lengths: { kind: 'counters', prefix: 'wrong_length:', names: /^\d{1,2}$/ },
} as const

type Sums = typeof GROUP_SUMS
type SumFamily = { [N in keyof Sums]: Sums[N] extends { prefix: string } ? N : never }[keyof Sums]
type SumField = Exclude<keyof Sums, SumFamily>

/** The field of one name of a family. */
export function formatSumField(family: SumFamily, name: string | number): string {
  return GROUP_SUMS[family].prefix + name
}

/** The sums of a family, by name. */
export function listSums(family: SumFamily, sums: Readonly<Record<string, number>>): [name: string, sum: number][] {
  const { prefix } = GROUP_SUMS[family]
  const list: [string, number][] = []
  for (const field in sums) if (field.startsWith(prefix)) list.push([field.slice(prefix.length), sums[field] ?? 0])
  return list
}

/** Sums divided by family, once for a reader of several families of each of thousands of steps. */
export interface DividedSums {
  /** Sums that belong to no family. */
  plain: StatisticSums
  /** Keyed by the prefix of the family. */
  families: Record<string, [name: string, sum: number][]>
}

export function divideSums(sums: StatisticSums): DividedSums {
  const plain: StatisticSums = {}
  const families: DividedSums['families'] = {}
  for (const field in sums) {
    const sum = sums[field] ?? 0
    const nameStart = field.indexOf(':') + 1
    const prefix = field.slice(0, nameStart)
    if (prefix === '') plain[field] = sum
    else {
      families[prefix] ??= []
      families[prefix].push([field.slice(nameStart), sum])
    }
  }
  return { plain, families }
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
  return percentileOfBuckets(listSums('length_buckets', sums), fraction)
}

function percentileOfBuckets(counts: [bucket: string, count: number][], fraction: number): number | null {
  const byBucket: (number | undefined)[] = [] // to sort the buckets takes three times as long
  for (const [bucket, count] of counts) byBucket[Number(bucket)] = count
  let remaining = counts.reduce((sum, [, count]) => sum + count, 0) * fraction
  for (let bucket = 0; bucket < byBucket.length; bucket++) {
    const count = byBucket[bucket]
    if (count === undefined) continue
    remaining -= count
    if (remaining <= 1e-9) return bucket === 0 ? 0 : Math.round(Math.exp((bucket - 1) * LOG_BUCKET_GROWTH))
  }
  return null
}

/** The field that counts groups with these numbers of rollouts. From these counts, pass@k is exact for any k. */
function formatOutcomeField({ scored, correct }: { scored: number; correct: number }): string {
  return formatSumField('outcomes', `${correct}_of_${scored}`)
}

/**
 * Metrics `pass_at/K` for K = 2, 4, 8, …: the probability that at least one of K rollouts of an item is correct, averaged over
 * the groups that have K scored rollouts. A group with n scored rollouts, c of them correct, gives the unbiased estimate
 * 1 − C(n − c, k) / C(n, k) (Chen et al., 2021, arXiv:2107.03374).
 */
function computePassAtK(outcomes: [name: string, count: number][]): Record<string, number> {
  const groups = outcomes.map(([name, count]) => {
    const [correct = 0, scored = 0] = name.split('_of_').map(Number)
    return { scored, correct, count }
  })
  const largest = groups.reduce((most, { scored }) => Math.max(most, scored), 0)
  const metrics: Record<string, number> = {}
  for (let k = 2; k <= largest; k *= 2) {
    const counted = groups.filter(({ scored }) => scored >= k)
    const total = counted.reduce((sum, { count }) => sum + count, 0)
    metrics[`pass_at/${k}`] =
      counted.reduce((sum, { scored, correct, count }) => sum + count * estimatePassAtK(scored, correct, k), 0) / total
  }
  return metrics
}

/** The estimate from `correct` of `scored` rollouts, as a product, because the binomials overflow. */
export function estimatePassAtK(scored: number, correct: number, k: number): number {
  if (scored - correct < k) return 1
  let allWrong = 1
  for (let i = scored - correct + 1; i <= scored; i++) allWrong *= 1 - k / i
  return 1 - allWrong
}

/** Sums by field; a missing field is 0. */
export type StatisticSums = Record<string, number>

const MARK_FIELDS: Record<string, SumField> = { s: 'skipped', m: 'masked', t: 'truncated', r: 'recovered' }

export function formatFaultField(code: string): string {
  return formatSumField('format_faults', code)
}

/** The number of rollouts with each format fault, by error code. */
export function parseFormatFaultCounts(sums: StatisticSums): Record<string, number> {
  return Object.fromEntries(listSums('format_faults', sums))
}

export function sumGroups(groups: Pick<GroupSummary, 'task' | 'signal' | 'rollouts'>[]): StatisticSums {
  const sums: StatisticSums = {}
  const addTo = (field: string, amount = 1) => {
    sums[field] = (sums[field] ?? 0) + amount
  }
  const add: (field: SumField, amount?: number) => void = addTo
  for (const { task, signal, rollouts } of groups) {
    const taskFields = {
      scored: formatSumField('task_scored', task),
      reward: formatSumField('task_reward', task),
      score: formatSumField('task_score', task),
      correct: formatSumField('task_correct', task),
    }
    const outcome = { scored: 0, correct: 0, reward: 0 }
    add('groups')
    if (signal) add('signal')
    for (const [reward, score, length, , marks] of rollouts) {
      add('rollouts')
      if (reward === null) add('unscored')
      else {
        add('scored')
        add('reward', reward)
        add('reward_squares', reward ** 2)
        add('score', score ?? 0)
        if (marks.includes('s')) {
          add('skipped_scored')
          add('skipped_score', score ?? 0)
        }
        addTo(taskFields.scored)
        addTo(taskFields.reward, reward)
        addTo(taskFields.score, score ?? 0)
        addTo(formatSumField('reward_bins', getRewardBin(reward)))
        const isCorrect = (score ?? 0) >= TRAINING_CORRECT_THRESHOLD
        if (length !== null)
          addTo(formatSumField(isCorrect ? 'correct_lengths' : 'wrong_lengths', getLengthBin(length)))
        outcome.scored++
        outcome.reward += reward
        if (isCorrect) {
          outcome.correct++
          add('correct')
          addTo(taskFields.correct)
        }
      }
      for (const mark of marks) addTo(MARK_FIELDS[mark] ?? formatFaultField(mark))
      if (length === null) continue
      add('length_count')
      add('length_sum', length)
      addTo(formatLengthBucketField(length))
      addTo(formatSumField('task_length_count', task))
      addTo(formatSumField('task_length', task), length)
    }
    if (outcome.scored > 0) {
      addTo(formatSumField('task_groups', task))
      addTo(formatSumField('task_reward_squares', task), outcome.reward ** 2 / outcome.scored)
    }
    if (outcome.scored > 1) addTo(formatOutcomeField(outcome))
  }
  return sums
}

/** Flat metrics for a logger. A metric without data is left out. */
export class FlatMetrics {
  readonly values: Record<string, number>

  constructor(values: Record<string, number>) {
    this.values = values
  }

  set(name: string, value: number | null): void {
    if (value !== null) this.values[name] = value
  }

  /** `reward/std` is computed from a sum of squares, and `length/p95` is accurate to 5%. */
  setOfGroups({ plain, families }: DividedSums): void {
    const sumOf = (field: SumField) => plain[field] ?? 0
    const listOf = (family: SumFamily) => families[GROUP_SUMS[family].prefix] ?? []
    const setMean = (name: string, field: SumField, countField: SumField) =>
      this.set(name, meanOfSum(sumOf(field), sumOf(countField)))
    setMean('reward/mean', 'reward', 'scored')
    this.set('reward/std', populationStdOfSums(sumOf('reward'), sumOf('reward_squares'), sumOf('scored')))
    setMean('score/mean', 'score', 'scored')
    setMean('score/frac_correct', 'correct', 'scored')
    if (plain.recovered) setMean('tries/frac_recovered', 'recovered', 'scored')
    Object.assign(this.values, computePassAtK(listOf('outcomes')))
    setMean('signal/frac', 'signal', 'groups')
    setMean('length/mean', 'length_sum', 'length_count')
    this.set('length/p95', percentileOfBuckets(listOf('length_buckets'), 0.95))
    setMean('truncated/frac', 'truncated', 'rollouts')
    setMean('skipped/frac', 'skipped', 'rollouts')
    setMean('masked/frac', 'masked', 'rollouts')
    setMean('unscored/frac', 'unscored', 'rollouts')
    const faults = new Map(listOf('format_faults'))
    for (const code of FormatFault.options)
      this.set(`fault/${code}`, meanOfSum(faults.get(code) ?? 0, sumOf('rollouts')))
    const rewards = new Map(listOf('task_reward'))
    for (const [task, scored] of listOf('task_scored'))
      this.set(`task/${task}/reward`, meanOfSum(rewards.get(task) ?? 0, scored))
  }
}
