/** Builds the outcome of a graded group for the diagnosis of its run, with the counts of its answers. */
import { hash } from 'node:crypto'
import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { GroupVerdict, ScoringMode } from '@reasoning-gym-server/contract/verdict'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { GroupResult } from '../../grading/group.ts'
import { entropyOfCounts } from '../../grading/statistics.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { throttledLog } from '../../platform/throttled-log.ts'
import {
  type AuditResults,
  type GroupOutcome,
  MAX_COUNTED_ANSWERS,
  type OutcomeKind,
} from '../runs/diagnosis/group-outcome.ts'
import type { TaskCards } from '../tasks/task-cards.ts'
import { classifyMissingSignal } from './group-counters.ts'

const FLOOR_CACHE_SIZE = 5000
/** Number of characters that are hashed. Longer texts count as equal if they agree up to here and in length. */
const MAX_HASHED_CHARS = 4096

export interface OutcomeInput {
  recipe: Recipe
  /** Hash of the item's question. */
  question: number
  scoring: ScoringMode
  result: GroupResult
  audits: AuditResults
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

  #build({ recipe, question, scoring, result, audits }: OutcomeInput): GroupOutcome {
    return {
      completedAt: redisNow(),
      kind: classifyOutcome(result),
      question,
      ...countAnswers(result.verdicts),
      meanScore: result.mean_score ?? null,
      guessFloor: this.#getFloor(recipe, scoring),
      ...audits,
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

type AnswerCounts = Pick<GroupOutcome, 'scored' | 'answers' | 'distinct' | 'entropy' | 'counts' | 'shown'>

/** Counts scored answers only. Unscored rollouts are left out, and format errors have no answer. */
export function countAnswers(verdicts: readonly GroupVerdict[]): AnswerCounts {
  const counts = new Map<string, number>()
  let scored = 0
  let answers = 0
  for (const verdict of verdicts) {
    if (verdict.status !== 'scored') continue
    scored++
    if (verdict.answer === null) continue
    answers++
    counts.set(verdict.answer, (counts.get(verdict.answer) ?? 0) + 1)
  }
  const common = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, MAX_COUNTED_ANSWERS)
  return {
    scored,
    answers,
    distinct: counts.size,
    entropy: entropyOfCounts([...counts.values()]),
    counts: common.map(([text, count]) => ({ hash: hashText(text), count })),
    shown: common[0]?.[0].slice(0, 64).replaceAll('\0', ' ') ?? '',
  }
}

/** Returns a hash of 32 bits, which is enough for the few hundred answers of a window. */
export function hashText(text: string): number {
  const bounded = text.length > MAX_HASHED_CHARS ? `${text.length} ${text.slice(0, MAX_HASHED_CHARS)}` : text
  return Number.parseInt(hash('sha1', bounded, 'hex').slice(0, 8), 16)
}
