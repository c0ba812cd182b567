/** Compares groups under two sets of rules, and counts what differs. */
import type { RescoreExample, RescoreResult } from '@reasoning-gym-server/contract/rescore'
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import type { GroupResult } from '../../grading/group-advantages.ts'

const EXAMPLES_PER_TASK = 3
const MAX_ANSWER_CHARS = 300

type TaskDifficulty = RescoreResult['tasks'][string]['difficulty']

interface Counts {
  groups: number
  rollouts: number
  rewards_changed: number
  change_sum: number
  groups_gaining_signal: number
  groups_losing_signal: number
  advantages_flipped: number
}

interface ComparedGroup {
  id: string
  task: string
  before: GroupResult
  after: GroupResult
}

export class RescoreComparison {
  readonly #total = createCounts()
  readonly #tasks = new Map<string, { counts: Counts; examples: RescoreExample[] }>()
  #leftOut = 0

  add(group: ComparedGroup): void {
    const of = this.#tasks.get(group.task) ?? { counts: createCounts(), examples: [] }
    this.#tasks.set(group.task, of)
    for (const counts of [this.#total, of.counts]) countGroup(counts, group)
    const room = EXAMPLES_PER_TASK - of.examples.length
    // at most one of a group, so that the examples differ
    if (room > 0) of.examples.push(...listExamples(group).slice(0, 1))
  }

  leaveOut(): void {
    this.#leftOut += 1
  }

  build(difficultyOf: (task: string) => TaskDifficulty): RescoreResult {
    const tasks = [...this.#tasks].toSorted(([a], [b]) => (a < b ? -1 : 1))
    return {
      ...formatCounts(this.#total),
      left_out: this.#leftOut,
      tasks: Object.fromEntries(
        tasks.map(([task, { counts }]) => [task, { ...formatCounts(counts), difficulty: difficultyOf(task) }]),
      ),
      examples: tasks.flatMap(([, { examples }]) => examples),
    }
  }
}

function createCounts(): Counts {
  return {
    groups: 0,
    rollouts: 0,
    rewards_changed: 0,
    change_sum: 0,
    groups_gaining_signal: 0,
    groups_losing_signal: 0,
    advantages_flipped: 0,
  }
}

function formatCounts({ change_sum, ...counts }: Counts) {
  return { ...counts, mean_change: counts.rollouts === 0 ? null : change_sum / counts.rollouts }
}

function countGroup(counts: Counts, { before, after }: ComparedGroup): void {
  counts.groups += 1
  if (after.signal === true && before.signal !== true) counts.groups_gaining_signal += 1
  if (before.signal === true && after.signal !== true) counts.groups_losing_signal += 1
  for (const [old, now] of listScoredPairs(before, after)) {
    counts.rollouts += 1
    counts.change_sum += now.reward - old.reward
    if (now.reward !== old.reward) counts.rewards_changed += 1
    if ((now.advantage ?? 0) * (old.advantage ?? 0) < 0) counts.advantages_flipped += 1
  }
}

function listExamples({ id, task, before, after }: ComparedGroup): RescoreExample[] {
  return listScoredPairs(before, after).flatMap(([old, now, rollout]) =>
    now.reward === old.reward
      ? []
      : [{ group_id: id, task, rollout, before: formatVerdict(old), after: formatVerdict(now) }],
  )
}

type ScoredVerdict = Extract<GroupVerdict, { status: 'scored' }>

function listScoredPairs(before: GroupResult, after: GroupResult): [ScoredVerdict, ScoredVerdict, number][] {
  return before.verdicts.flatMap((old, k): [ScoredVerdict, ScoredVerdict, number][] => {
    const now = after.verdicts[k]
    return old.status === 'scored' && now?.status === 'scored' ? [[old, now, k]] : []
  })
}

function formatVerdict({ reward, score, advantage, answer, fault }: ScoredVerdict) {
  return { reward, score, advantage, answer: answer?.slice(0, MAX_ANSWER_CHARS).toWellFormed() ?? null, fault }
}
