/**
 * How often a task is drawn under `sampling: "learnability"`: by how much the scores of one item's rollouts differ, beyond
 * what guessing makes them differ. Pure: the same groups in the same order give the same shares on every node.
 *
 * A model solves a share q of the attempts at an item and guesses the rest, which is right with the chance f, the guess
 * floor: p = f + (1 − f)q. The scores of one item then vary by
 *
 *     p(1 − p) = (1 − f)² q(1 − q) + f(1 − p)
 *
 * The first part can be learnt, the second is luck. Where p is below f, the model misses even the format of a guess, and
 * the luck of the guesses that it does make is p(1 − f). So the smaller of the two is taken off the variance within groups. A
 * task whose items are all right or all wrong has no such variance, whatever the mean of its items.
 *
 * This holds for scores of 0 and 1. Where a task gives part of the credit to any answer, its floor is no luck and varies
 * little, so the floor counts as far as scores vary like all or nothing.
 */
import type { GroupVerdict } from '../../../contract/verdict.ts'
import { mean, populationStd, sampleVariance } from '../../../grading/statistics.ts'
import type { TaskPlan } from './sequence.ts'

/** What a scored group tells of its task. */
export interface LearnabilityEvidence {
  /** Sample variance of its voters' scores. */
  variance: number
  /** Mean of its voters' scores. */
  score: number
  /** Guess floor at the difficulty of its item, as far as its scores are all or nothing. */
  floor: number
}

export interface NumberedEvidence extends LearnabilityEvidence {
  /** Of the group, in the order in which the run's groups were completed. */
  number: number
}

/** Weight of the newest group of a task; each older one weighs less by this share. */
const NEWEST_WEIGHT = 0.3
/** Groups of a task whose evidence is kept; older ones would weigh less than a thousandth. */
export const MAX_LEARNABILITY_EVIDENCE = 16
/** Groups of the run after which evidence weighs half: a task that is not drawn goes back to what an unseen one is worth. */
const HALF_LIFE_GROUPS = 5000
/** Of a task about which nothing is known: half of what scores of 0 and 1 can have at most. */
const UNSEEN_LEARNABILITY = 0.125
/** The least share of a task in the items, relative to the share that its weight alone would give it. */
export const MIN_RELATIVE_SHARE = 0.05

/** Undefined if fewer than two rollouts vote: one score does not vary. */
export function buildEvidence(verdicts: readonly GroupVerdict[], floor: number): LearnabilityEvidence | undefined {
  const scores = verdicts.flatMap((verdict) =>
    verdict.status === 'scored' && !verdict.skipped && !verdict.masked ? [verdict.score] : [],
  )
  if (scores.length < 2) return undefined
  return { variance: sampleVariance(scores), score: mean(scores), floor: floor * measureAllOrNothing(scores) }
}

/**
 * 1 for scores of 0 and 1, about 1 where a wrong answer gets a hundredth; 0 if the scores vary at most half as much as scores
 * of 0 and 1 with their mean would.
 */
function measureAllOrNothing(scores: number[]): number {
  const most = mean(scores) * (1 - mean(scores))
  return most <= 0 ? 1 : Math.min(1, Math.max(0, (2 * populationStd(scores) ** 2) / most - 1))
}

/** `evidence` is from old to new; `completed` the number of the run's latest group. */
export function estimateLearnability(evidence: readonly NumberedEvidence[], completed: number): number {
  let [known, variance, score, floor] = [0, 0, 0, 0]
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

/** The weight of each plan: its share in the items, which is MIN_RELATIVE_SHARE of its fair share, and the rest by evidence. */
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

/** As stored, but for the number, which the script that completes the group adds. */
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

/** Empty if the values add up to nothing. */
function normalize(values: readonly number[]): number[] {
  const total = values.reduce((sum, value) => sum + value, 0)
  return total > 0 ? values.map((value) => value / total) : []
}
