/**
 * How often a task is drawn under `sampling: "learnability"`: by how much the scores of one item's rollouts vary beyond
 * the variance of guessing. All functions are pure: the same groups in the same order give the same shares on every
 * node.
 *
 * A model solves a share q of the attempts at an item and guesses the rest. A guess is correct with probability f, the
 * guess floor, so p = f + (1 − f)q. The variance of the scores of one item is then
 *
 *     p(1 − p) = (1 − f)² q(1 − q) + f(1 − p)
 *
 * The first part can be learned; the second part is luck. If p is below f, the model misses even the format of a guess,
 * and the luck of its remaining guesses is p(1 − f). So the smaller of the two is subtracted from the variance within
 * groups. A task whose items are all correct or all wrong has no such variance, whatever the mean of its items.
 *
 * This holds for scores of 0 and 1. If a task gives partial credit to any answer, its floor is not luck and varies
 * little, so the floor counts only to the extent that the scores are all or nothing.
 */
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import { mean, populationStd, sampleVariance } from '../../../grading/statistics.ts'
import type { TaskPlan } from './sequence.ts'

interface LearnabilityEvidence {
  /** Sample variance of its voters' scores. */
  variance: number
  score: number
  /** Guess floor at the difficulty of its item, scaled by how closely its scores are all or nothing. */
  floor: number
}

export interface NumberedEvidence extends LearnabilityEvidence {
  /** Number of the group, in order of completion within the run. */
  number: number
}

/** Weight of the newest group of a task. Each older group weighs less by this share. */
const NEWEST_WEIGHT = 0.3
/** Number of groups of a task whose evidence is kept. Older ones would weigh less than a thousandth. */
export const MAX_LEARNABILITY_EVIDENCE = 16
/**
 * Number of groups of the run after which evidence weighs half. A task that is not drawn drifts back to the value of an
 * unseen one.
 */
const HALF_LIFE_GROUPS = 5000
/** Learnability of a task without evidence: half of the maximum variance of scores of 0 and 1. */
const UNSEEN_LEARNABILITY = 0.125
/** Minimum share of a task in the items, relative to its share by weight alone. */
export const MIN_RELATIVE_SHARE = 0.05

/** Returns undefined if fewer than two rollouts vote, because one score does not vary. */
export function buildEvidence(verdicts: readonly GroupVerdict[], floor: number): LearnabilityEvidence | undefined {
  const scores = verdicts.flatMap((verdict) =>
    verdict.status === 'scored' && !verdict.skipped && !verdict.masked ? [verdict.score] : [],
  )
  if (scores.length < 2) return undefined
  return { variance: sampleVariance(scores), score: mean(scores), floor: floor * measureAllOrNothing(scores) }
}

/**
 * Returns 1 for scores of 0 and 1, about 1 if a wrong answer gets a hundredth, and 0 if the scores vary at most half as
 * much as scores of 0 and 1 with the same mean.
 */
function measureAllOrNothing(scores: number[]): number {
  const most = mean(scores) * (1 - mean(scores))
  return most <= 0 ? 1 : Math.min(1, Math.max(0, (2 * populationStd(scores) ** 2) / most - 1))
}

/** Estimates from evidence, oldest first. `completed` is the number of the run's latest group. */
export function estimateLearnability(evidence: readonly NumberedEvidence[], completed: number): number {
  let known = 0
  let variance = 0
  let score = 0
  let floor = 0
  evidence.toReversed().forEach((group, age) => {
    const unseenFor = Math.max(0, completed - group.number)
    const weight = NEWEST_WEIGHT * (1 - NEWEST_WEIGHT) ** age * 0.5 ** (unseenFor / HALF_LIFE_GROUPS)
    known += weight
    variance += weight * group.variance
    score += weight * group.score
    floor += weight * group.floor
  })
  if (known === 0) return UNSEEN_LEARNABILITY
  const luck = Math.min(floor * (1 - score / known), score * (1 - floor / known))
  return Math.max(0, variance - luck) + (1 - known) * UNSEEN_LEARNABILITY
}

/**
 * Computes the weight of each plan, which is its share in the items: MIN_RELATIVE_SHARE of its fair share, and the rest
 * by evidence.
 */
export function weighByLearnability(
  plans: readonly TaskPlan[],
  evidence: Readonly<Record<string, readonly NumberedEvidence[]>>,
): (plan: TaskPlan) => number {
  const completed = findLatestNumber(evidence)
  const fair = normalize(plans.map(({ weight }) => weight))
  const learnable = normalize(
    plans.map(({ task, weight }) => weight * estimateLearnability(evidence[task] ?? [], completed)),
  )
  const shares = plans.map(({ task }, k): [string, number] => {
    const fairShare = fair[k] ?? 0
    return [task, MIN_RELATIVE_SHARE * fairShare + (1 - MIN_RELATIVE_SHARE) * (learnable[k] ?? fairShare)]
  })
  const shareByTask = new Map(shares)
  return ({ task }) => shareByTask.get(task) ?? 0
}

export function findLatestNumber(evidence: Readonly<Record<string, readonly NumberedEvidence[]>>): number {
  return Object.values(evidence).reduce((latest, groups) => Math.max(latest, groups.at(-1)?.number ?? 0), 0)
}

/** Formats evidence for storage, without the number, which the script that completes the group adds. */
export function formatEvidence({ variance, score, floor }: LearnabilityEvidence): string {
  return `${variance} ${score} ${floor}`
}

export function formatEvidenceList(evidence: readonly NumberedEvidence[]): string {
  return evidence.map((group) => `${formatEvidence(group)} ${group.number}`).join(',')
}

export function parseEvidenceList(text: string): NumberedEvidence[] {
  if (text === '') return []
  return text.split(',').map((entry) => {
    const [variance = 0, score = 0, floor = 0, number = 0] = entry.split(' ').map(Number)
    return { variance, score, floor, number }
  })
}

/** Returns an empty list if the values add up to 0. */
function normalize(values: readonly number[]): number[] {
  const total = values.reduce((sum, value) => sum + value, 0)
  return total > 0 ? values.map((value) => value / total) : []
}
