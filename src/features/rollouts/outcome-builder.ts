/** Builds the outcome of a graded group for the diagnosis of its run. */

import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { ScoringMode } from '@reasoning-gym-server/contract/verdict'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { GroupResult } from '../../grading/group.ts'
import { fleetNow } from '../../platform/redis/fleet-clock.ts'
import { throttledLog } from '../../platform/throttled-log.ts'
import type { GroupOutcome, OutcomeKind } from '../runs/group-outcome.ts'
import type { TaskCards } from '../tasks/task-cards.ts'
import { countAnswers } from './answer-counts.ts'
import { classifyMissingSignal } from './group-counters.ts'
import type { ControlResults } from './score-controls.ts'

const FLOOR_CACHE_SIZE = 5000

export interface OutcomeInput {
  recipe: Recipe
  /** Hash of the item's question. */
  question: number
  scoring: ScoringMode
  result: GroupResult
  controls: ControlResults
}

export class OutcomeBuilder {
  readonly #cards: TaskCards
  readonly #logError: (error: unknown) => void
  /** Cached guess floors. Reading a card takes longer than scoring a short answer. */
  readonly #floors = new LRUCache<string, { floor: number | null }>({ max: FLOOR_CACHE_SIZE })

  constructor(cards: TaskCards, log: Logger) {
    this.#cards = cards
    this.#logError = throttledLog((err) =>
      log.error({ err }, 'a group could not be included in the diagnosis of its run'),
    )
  }

  /**
   * Returns undefined for a failed group, which may still be scored. Never throws: on an error, the group counts
   * without its outcome.
   */
  build(input: OutcomeInput): GroupOutcome | undefined {
    try {
      return input.result.status === 'failed' ? undefined : this.#build(input)
    } catch (error) {
      this.#logError(error)
      return undefined
    }
  }

  #build({ recipe, question, scoring, result, controls }: OutcomeInput): GroupOutcome {
    return {
      completedAt: fleetNow(),
      kind: classifyOutcome(result),
      question,
      ...countAnswers(result.verdicts),
      meanScore: result.mean_score ?? null,
      guessFloor: this.#getFloor(recipe, scoring),
      ...controls,
    }
  }

  /** Returns null for a config in the run's settings, because cards belong to the defaults and to rungs. */
  #getFloor({ task, difficulty, config }: Recipe, scoring: ScoringMode): number | null {
    if (difficulty === null && Object.keys(config).length > 0) return null
    const key = `${task} ${difficulty} ${scoring}`
    const known = this.#floors.get(key)
    if (known) return known.floor
    const floor = this.#cards.findGuessFloor(task, difficulty, scoring) ?? null
    this.#floors.set(key, { floor })
    return floor
  }
}

function classifyOutcome(result: GroupResult): OutcomeKind {
  if (result.destination === 'skipped') return 'skipped'
  return classifyMissingSignal(result) ?? 'signal'
}
