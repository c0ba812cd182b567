/**
 * Folds the evidence of groups into the frontiers of their tasks. A pure function: the same evidence in the same order
 * gives the same result.
 */
import type { CurriculumPoint } from '@reasoning-gym-server/contract/run'
import { mean } from '../../../grading/statistics.ts'
import type { CurriculumState } from '../run-record.ts'
import { createFrontier, estimateFrontier, type FrontierWeights, updateFrontier } from './frontier.ts'
import type { GroupEvidence } from './group-evidence.ts'
import type { TaskFrontier } from './task-frontiers.ts'

/** Number of recent scores whose mean is reported as the accuracy. */
const RECENT_SCORES = 5

/** The stored curriculum of a task. It has no weights until a group has counted. */
export interface StoredFrontier {
  state: CurriculumState
  weights: FrontierWeights | undefined
}

export interface FoldedEvidence {
  /** Frontiers of the changed tasks. */
  tasks: Map<string, StoredFrontier & { weights: FrontierWeights }>
  /** New points of the history, oldest first. */
  points: CurriculumPoint[]
  levelChanges: LevelChange[]
}

export interface LevelChange {
  task: string
  /** Level before the group, or undefined if the task had no level of its own yet. */
  before: number | undefined
  after: number
}

/**
 * Folds evidence into frontiers. Evidence of a task without a frontier is dropped: the settings have changed, and the
 * run no longer uses the task.
 */
export function foldEvidence(
  evidence: readonly GroupEvidence[],
  stored: ReadonlyMap<string, StoredFrontier>,
  getFrontier: (task: string) => TaskFrontier | undefined,
): FoldedEvidence {
  const tasks: FoldedEvidence['tasks'] = new Map()
  const points = evidence.flatMap((piece) => {
    const frontier = getFrontier(piece.task)
    if (!frontier) return []
    const folded = foldGroup(piece, tasks.get(piece.task) ?? stored.get(piece.task), frontier)
    tasks.set(piece.task, folded)
    return [buildPoint(piece, folded.state)]
  })
  const levelChanges = [...tasks].map(([task, { state }]) => {
    const before = stored.get(task)?.state.level ?? getFrontier(task)?.startingLevel
    return { task, before, after: state.level }
  })
  return { tasks, points, levelChanges: levelChanges.filter(({ before, after }) => before !== after) }
}

function foldGroup(
  { score, rollouts, difficulty, floor }: GroupEvidence,
  before: StoredFrontier | undefined,
  { startingLevel, chooseLevel }: TaskFrontier,
): StoredFrontier & { weights: FrontierWeights } {
  const weights = updateFrontier(before?.weights ?? createFrontier(), { score, rollouts, rung: { difficulty, floor } })
  const { level, rung } = chooseLevel(weights, before?.state.level ?? startingLevel)
  const scores = [...(before?.state.scores ?? []), score].slice(-RECENT_SCORES)
  const frontier = { ...estimateFrontier(weights), floor: rung.floor }
  return { weights, state: { level, accuracy: mean(scores), scores, frontier } }
}

function buildPoint(
  { time, step, task, score, difficulty, floor, rollouts }: GroupEvidence,
  { level, accuracy = score, frontier }: CurriculumState,
): CurriculumPoint {
  const item = { difficulty, floor, rollouts }
  return { time, step, task, score, difficulty: level, accuracy, item, ...frontier }
}
