/** Explains why the last groups of a run carry no signal. */
import { diagnose, isConstant, mergeWindows } from './diagnosis.ts'
import type { GroupOutcome, OutcomeKind } from './group-outcome.ts'
import { format, isAboveGuessing, quote } from './warnings.ts'

/** Minimum of distinct questions. Fewer of them may share one answer by chance. */
const MIN_QUESTIONS = 5

const REASONS: Record<Exclude<OutcomeKind, 'signal'>, string> = {
  easy: 'every rollout is correct: the tasks are too easy',
  hard: 'every rollout is wrong: the tasks are too hard, or the answers miss the format',
  masked: 'every rollout is truncated and masked',
  lone_voter: 'one rollout is left to compare: the others are truncated and masked, too short, or unscored',
  skipped: 'every rollout has fewer than min_trained_tokens and is skipped',
}

/** `count` is the number of consecutive groups without signal. Only those in the windows are known. */
export function explainMissingSignal(windows: Readonly<Record<string, GroupOutcome[]>>, count: number): string {
  const recent = mergeWindows(windows).slice(-count)
  // after a checkpoint is restored, the windows are empty
  if (recent.length === 0) return 'all rewards in a group are equal'
  const collapse = findCollapse(windows, recent)
  if (collapse && 2 * collapse.groups > recent.length) return explainCollapse(collapse)
  const counts = Map.groupBy(recent, ({ kind }) => kind)
  const [top] = [...counts].toSorted(([, a], [, b]) => b.length - a.length)
  if (!top || top[0] === 'signal') return 'all rewards in a group are equal'
  const [kind, groups] = top
  const isEach = groups.length === count
  return `in ${isEach ? 'all of them' : `${groups.length} of the last ${recent.length}`}, ${REASONS[kind]}`
}

interface Collapse {
  task: string
  answer: string
  /**
   * Number of groups without signal that share one answer, in all collapsed tasks and in the one with the most such
   * groups.
   */
  groups: number
  groupsOfTask: number
  questions: number
  meanScore: number | null
  guessFloor: number | null
}

function findCollapse(
  windows: Readonly<Record<string, GroupOutcome[]>>,
  recent: readonly GroupOutcome[],
): Collapse | undefined {
  const known = new Set(recent)
  const collapses = Object.entries(windows).flatMap(([task, outcomes]) => {
    const constant = takeConstantEnd(outcomes).filter((outcome) => known.has(outcome))
    const diagnosis = diagnose(constant)
    const { questions, mean_score, guess_floor, top_answer } = diagnosis
    if (questions < MIN_QUESTIONS || !top_answer || isAboveGuessing(diagnosis)) return []
    const figures = { meanScore: mean_score, guessFloor: guess_floor, answer: top_answer.text, questions }
    return [{ task, groupsOfTask: constant.length, ...figures }]
  })
  const [largest] = collapses.toSorted((a, b) => b.groupsOfTask - a.groupsOfTask)
  return largest && { ...largest, groups: collapses.reduce((sum, { groupsOfTask }) => sum + groupsOfTask, 0) }
}

/** Returns the latest consecutive groups of a task that all have the same answer. */
function takeConstantEnd(outcomes: readonly GroupOutcome[]): GroupOutcome[] {
  const answer = outcomes.at(-1)?.counts[0]?.hash
  const end = outcomes.findLastIndex((outcome) => !isConstant(outcome) || outcome.counts[0]?.hash !== answer)
  return outcomes.slice(end + 1)
}

function explainCollapse({ task, answer, groupsOfTask, questions, meanScore, guessFloor }: Collapse): string {
  return `${groupsOfTask} groups of ${task}, on ${questions} different questions, all answer ${quote(answer)}: the policy has collapsed onto the most common answer (mean score ${format(meanScore)}, guess floor ${format(guessFloor)})`
}
