/**
 * Draws the item of a position: its task, and its rung where that is drawn too. Each draw says its propensity, so that
 * off-policy estimates and a curriculum outside the server know how likely an item was.
 */
import type { Ladders } from '../../tasks/ladders.ts'
import type { TaskCatalog } from '../../tasks/task-catalog.ts'
import type { TaskFrontier, TaskFrontiers } from '../curriculum/task-frontiers.ts'
import type { CurriculumLevel } from '../repository.ts'
import type { ResolvedRun } from '../types.ts'
import { roundPropensity, type TaskVariant } from './issued-items.ts'
import { type NumberedEvidence, weighByLearnability } from './learnability.ts'
import type { LadderPlacement } from './position-state.ts'
import type { ClaimedPosition } from './positions.ts'
import {
  buildTaskPlans,
  chooseDifficulty,
  clampDifficulty,
  hashToUnitInterval,
  type SequencePoint,
  seedAt,
  type TaskPlan,
} from './sequence.ts'

export interface DrawnItem extends TaskVariant {
  position: number
  /** First seed of the position. */
  seed: number
  difficulty: number | null
  /** Probability with which the task was drawn. It stays with the task if the item is made again. */
  share: number
  /**
   * Probability with which the task and the rung were drawn, in (0, 1]: `share` times the probability of the rung under
   * the current state of the curriculum.
   */
  propensity: number | undefined
  placement: LadderPlacement | undefined
  /** Whether no other task can be drawn for the position. */
  isLastDraw: boolean
}

/** What a run has learned about its model. */
interface ModelState {
  levels: Record<string, Pick<CurriculumLevel, 'difficulty'>>
  /** For `sampling: "learnability"`. */
  evidence: Record<string, NumberedEvidence[]> | undefined
}

interface ItemDrawsDeps {
  tasks: Pick<TaskCatalog, 'list'>
  ladders: Ladders
  frontiers: TaskFrontiers
}

export class ItemDraws {
  readonly #deps: ItemDrawsDeps

  constructor(deps: ItemDrawsDeps) {
    this.#deps = deps
  }

  draw(run: ResolvedRun, claimed: ClaimedPosition[], { levels, evidence }: ModelState): DrawnItem[] {
    const { seed } = run.settings
    const plans = buildTaskPlans(run.settings, this.#deps.tasks.list())
    const weightOf = evidence && weighByLearnability(plans, evidence)
    return claimed.map(({ position, previous, triedTasks }) => {
      const kept = weightOf && previous && plans.find(({ task }) => task === previous.task)
      const left = triedTasks.length > 0 ? listUntried(plans, triedTasks) : plans
      const point = sequencePointAt(seed, kept ? [kept] : left, position, {
        draw: triedTasks.length,
        ...(weightOf && !kept && { weightOf }),
      })
      const { task, config } = point.plan
      const share = (kept && previous?.share) ?? point.share
      const { rungProbability, ...rung } = this.#drawRung(point, run, levels[task]?.difficulty)
      return {
        position,
        task,
        config,
        seed: point.seed,
        share,
        propensity: roundPropensity(share * rungProbability),
        isLastDraw: listUntried(plans, [...triedTasks, task]).length === 0,
        ...rung,
      }
    })
  }

  #drawRung(point: SequencePoint, run: ResolvedRun, storedLevel: number | undefined) {
    const { settings } = run
    const { plan } = point
    const { ladders, frontiers } = this.#deps
    const frontier = settings.complexity_mode === 'frontier' ? frontiers.get(run, plan) : undefined
    const isOnLadder = settings.complexity_mode !== 'frontier' || frontier !== undefined
    const level = isOnLadder ? (storedLevel ?? frontier?.startingLevel) : undefined
    // Groups of such items show a model that is better on harder rungs, and keep slope and cap known.
    const explored =
      point.exploration === undefined
        ? undefined
        : frontier?.rungs[Math.floor(point.exploration * frontier.rungs.length)]
    const chosen = chooseDifficulty(point, settings, level)
    const difficulty = explored ? clampDifficulty(explored.difficulty, plan) : chosen
    const followsCurriculum = followsModel(settings) && plan.config === undefined && plan.low < plan.high
    if (difficulty === null) return { difficulty, rungProbability: 1, placement: undefined }
    const range = ladders.rangeAt(plan.task, difficulty)
    const isChosen = chosen !== null && range.from <= chosen && chosen < range.to
    return {
      difficulty,
      rungProbability: frontier
        ? computeFrontierProbability(frontier, plan, { range, isChosen })
        : computeRandomProbability(settings, plan, range),
      placement: followsCurriculum
        ? {
            low: plan.low,
            high: plan.high,
            ...range,
            ...(explored && ({ explored: isChosen ? 'chosen' : 'other' } as const)),
          }
        : undefined,
    }
  }
}

/** Levels in [from, to) that select the same rung. */
type RungRange = ReturnType<Ladders['rangeAt']>

/** Returns the share of the difficulties that `random` draws from which select the rung, and 1 in the other modes. */
function computeRandomProbability(
  { complexity_mode }: ResolvedRun['settings'],
  { low, high, config }: TaskPlan,
  { from, to }: RungRange,
): number {
  if (complexity_mode !== 'random' || config !== undefined || low === high) return 1
  return (Math.min(to, high) - Math.max(from, low)) / (high - low)
}

/** The chosen rung has the positions that do not explore, and each rung its part of those that do. */
function computeFrontierProbability(
  { rungs }: TaskFrontier,
  plan: TaskPlan,
  { range: { from, to }, isChosen }: { range: RungRange; isChosen: boolean },
): number {
  const same = rungs.filter(({ difficulty }) => {
    const clamped = clampDifficulty(difficulty, plan)
    return from <= clamped && clamped < to
  })
  const exploredShare = 1 / EXPLORATION_BLOCK
  return exploredShare * (same.length / rungs.length) + (isChosen ? 1 - exploredShare : 0)
}

/** Whether the difficulty of items depends on how groups were scored. */
export function followsModel({ complexity_mode: mode }: ResolvedRun['settings']): boolean {
  return mode === 'curriculum' || mode === 'frontier'
}

/**
 * Computes the task and the seed of a position from the run's seed and tasks alone, so that runs with equal settings
 * get equal items under any name. Neighbors in the sequence have neighboring seeds. `weightOf` returns the current
 * weight of a plan: its own, or one that follows the model. Each draw of a position is independent of the others.
 */
export function sequencePointAt(
  runSeed: number,
  plans: TaskPlan[],
  position: number,
  { weightOf = ({ weight }) => weight, draw = 0 }: { weightOf?: (plan: TaskPlan) => number; draw?: number } = {},
): SequencePoint {
  const weights = plans.map(weightOf)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const key = draw === 0 ? `${runSeed}/${position}` : `${runSeed}/${position}/draw ${draw}`
  const plan = pickWeighted(plans, weights, hashToUnitInterval(key) * total)
  if (!plan) throw new RangeError('a run needs a task')
  return {
    plan,
    share: weightOf(plan) / total,
    seed: seedAt(runSeed, position),
    uniform: hashToUnitInterval(`${runSeed}/${position}/difficulty`),
    exploration: explores(runSeed, position) ? hashToUnitInterval(`${runSeed}/${position}/exploration`) : undefined,
  }
}

/** One position of each block of this many explores, so that a step has few of them. */
export const EXPLORATION_BLOCK = 32

function explores(runSeed: number, position: number): boolean {
  const block = Math.floor(position / EXPLORATION_BLOCK)
  const explorer = Math.floor(EXPLORATION_BLOCK * hashToUnitInterval(`${runSeed}/${block}/explorer`))
  return position % EXPLORATION_BLOCK === explorer
}

/**
 * Limit of tasks drawn for a position that is requested by number. If a task has no item for it, another one is drawn,
 * so that a trainer that counts positions finds no gap.
 */
const DRAWS_PER_POSITION = 4

/** Lists the plans from which the next draw chooses. Empty if there is no other draw. */
export function listUntried(plans: TaskPlan[], tried: string[]): TaskPlan[] {
  if (tried.length >= DRAWS_PER_POSITION) return []
  return plans.filter(({ task, weight }) => weight > 0 && !tried.includes(task))
}

/** Whether the task is that of the position or can be the result of another draw. */
export function canBeDrawnAt(runSeed: number, plans: TaskPlan[], position: number, task: string): boolean {
  const tried: string[] = []
  for (let left = plans; left.length > 0; left = listUntried(plans, tried)) {
    const drawn = sequencePointAt(runSeed, left, position, { draw: tried.length }).plan.task
    if (drawn === task) return true
    tried.push(drawn)
  }
  return false
}

/** Returns the plan whose segment contains a point, with the weights laid end to end. */
function pickWeighted(plans: TaskPlan[], weights: number[], point: number): TaskPlan | undefined {
  let end = 0
  for (const [k, weight] of weights.entries()) {
    end += weight
    if (point < end) return plans[k]
  }
  return plans.findLast((_, k) => (weights[k] ?? 0) > 0)
}
