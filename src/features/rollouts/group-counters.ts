/**
 * Sums up a completed group: the summary from which batches are composed without reading a rollout, what the group adds to
 * the counters of its run and to the sums of its task and step, and its outcome for the diagnosis of the run.
 */

import { crc32 } from 'node:zlib'
import type { GroupSummary, RolloutSummary } from '@reasoning-gym-server/contract/batch'
import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { GroupVerdict, ScoringMode } from '@reasoning-gym-server/contract/verdict'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { isCutOff } from '../../grading/finish-reason.ts'
import type { GroupResult } from '../../grading/group-advantages.ts'
import { formatFaultField, type StatisticSums, sumGroups } from '../../grading/group-statistics.ts'
import { entropyOfCounts, meanOrNull } from '../../grading/statistics.ts'
import { TRAINING_CORRECT_THRESHOLD } from '../../grading/verdict.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { throttledLog } from '../../platform/throttled-log.ts'
import { type AuditResults, type GroupOutcome, MAX_COUNTED_ANSWERS } from '../runs/diagnosis/group-outcome.ts'
import { sumsRecord } from '../runs/sums.ts'
import type { TaskCards } from '../tasks/task-cards.ts'
import type { GroupMetadata } from './group-payload.ts'

export function buildGroupSummary(
  id: string,
  { task, difficulty }: Pick<Recipe, 'task' | 'difficulty'>,
  { policy_version, rollouts }: GroupMetadata,
  { verdicts, signal }: GroupResult,
): GroupSummary {
  return {
    id,
    task,
    difficulty,
    scored: verdicts.filter(({ status }) => status === 'scored').length,
    policy_version,
    signal: signal ?? false,
    rollouts: verdicts.map((verdict, k) => {
      const { length, trained, finish_reason } = rollouts[k] ?? {}
      return buildRolloutSummary(verdict, length, trained, isCutOff(finish_reason))
    }),
  }
}

function buildRolloutSummary(
  verdict: GroupVerdict,
  length: number | undefined,
  trained: number | undefined,
  cut: boolean,
): RolloutSummary {
  const marks = [
    ...(verdict.skipped ? ['s'] : []),
    ...(verdict.masked ? ['m'] : []),
    ...(cut ? ['t'] : []),
    ...(isRecovered(verdict) ? ['r'] : []),
    ...(verdict.status === 'scored' && verdict.fault ? [verdict.fault] : []),
  ]
  return [verdict.reward, verdict.score, length ?? null, trained ?? null, marks]
}

/** Whether a later try was right after a wrong one. */
function isRecovered(verdict: GroupVerdict): boolean {
  if (verdict.status === 'unscored' || verdict.score < TRAINING_CORRECT_THRESHOLD) return false
  return (verdict.turns?.[0]?.score ?? 1) < TRAINING_CORRECT_THRESHOLD
}

export function buildRunCounters(result: GroupResult, { rollouts, scored }: GroupSummary): Record<string, number> {
  const { status, verdicts, destination } = result
  const counters: Record<string, number> = { [`${status}_groups`]: 1 }
  const add = (name: string) => {
    counters[name] = (counters[name] ?? 0) + 1
  }
  const reason = classifyMissingSignal(result)
  if (destination === 'skipped') add('skipped_groups')
  else if (status === 'scored' && reason) add(NO_SIGNAL_COUNTERS[reason])
  for (const verdict of verdicts) {
    if (verdict.status === 'unscored') add('unscored')
    else if (verdict.fault) add(formatFaultField(verdict.fault))
  }
  let [generated, untrained, rewards] = [0, 0, 0]
  for (const [reward, , length, , marks] of rollouts) {
    rewards += reward ?? 0
    const isTrained = destination === 'buffered' && reward !== null && marks[0] !== 's' && marks[0] !== 'm'
    generated += length ?? 0
    untrained += isTrained ? 0 : (length ?? 0)
  }
  return {
    ...counters,
    ...omitZeros({
      generated_tokens: generated,
      untrained_tokens: untrained,
      scored_rollouts: scored,
      reward: rewards,
    }),
  }
}

type MissingSignalReason = 'easy' | 'hard' | 'masked' | 'lone_voter'

const NO_SIGNAL_COUNTERS = {
  easy: 'no_signal_easy',
  hard: 'no_signal_hard',
  masked: 'masked_groups',
  lone_voter: 'lone_voter_groups',
} as const satisfies Record<MissingSignalReason, string>

/**
 * Returns the reason why a group has no signal, or undefined if it has one. With no voter, or only one, it is neither
 * easy nor hard.
 */
function classifyMissingSignal({ signal, voters = 0, mean_score }: GroupResult): MissingSignalReason | undefined {
  if (signal) return undefined
  if (voters === 0) return 'masked'
  if (voters === 1) return 'lone_voter'
  return (mean_score ?? 0) >= TRAINING_CORRECT_THRESHOLD ? 'easy' : 'hard'
}

/**
 * Builds the sums of a scored group, by field, which its task and its step add up.
 */
export function buildGroupSums(summary: GroupSummary, result: GroupResult): StatisticSums {
  const reason = classifyMissingSignal(result)
  const { task_difficulty, task_difficulty_count } = sumsRecord.constants
  return omitZeros({
    ...sumGroups([summary]),
    ...(summary.difficulty !== null && {
      [task_difficulty + summary.task]: summary.difficulty,
      [task_difficulty_count + summary.task]: 1,
    }),
    all_correct: reason === 'easy' ? 1 : 0,
    all_wrong: reason === 'hard' ? 1 : 0,
  })
}

/** Leaves out zeros. A missing field counts as 0, and every field that is sent takes time in Redis. */
function omitZeros(sums: StatisticSums): StatisticSums {
  return Object.fromEntries(Object.entries(sums).filter(([, amount]) => amount !== 0))
}

const FLOOR_CACHE_SIZE = 5000
/** Number of characters that are hashed. Longer texts count as equal if they agree up to here and in length. */
const MAX_HASHED_CHARS = 4096

interface OutcomeInput {
  recipe: Recipe
  question: number
  scoring: ScoringMode
  result: GroupResult
  /** Tokens of each completion, if the trainer sent them. */
  lengths: readonly (number | undefined)[]
  audits: AuditResults
}

/** Builds the outcome of a graded group for the diagnosis of its run, with the counts of its answers. */
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

  #build({ recipe, question, scoring, result, lengths, audits }: OutcomeInput): GroupOutcome {
    return {
      completedAt: redisNow(),
      kind: result.destination === 'skipped' ? 'skipped' : (classifyMissingSignal(result) ?? 'signal'),
      question,
      ...countAnswers(result.verdicts),
      meanScore: result.mean_score ?? null,
      guessFloor: this.#getFloor(recipe, scoring),
      difficulty: recipe.difficulty,
      meanLength: meanOrNull(lengths.flatMap((length) => length ?? [])),
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

type AnswerCounts = Pick<GroupOutcome, 'scored' | 'answers' | 'distinct' | 'entropy' | 'counts' | 'shown'>

/** Counts scored answers only, in the form in which they are compared. Unscored rollouts are left out, and format faults have no answer. */
export function countAnswers(verdicts: readonly GroupVerdict[]): AnswerCounts {
  const counts = new Map<string, number>()
  const texts = new Map<string, string>()
  let scored = 0
  let answers = 0
  for (const verdict of verdicts) {
    if (verdict.status !== 'scored') continue
    scored++
    if (verdict.answer === null) continue
    answers++
    const key = normalizeAnswer(verdict.answer)
    counts.set(key, (counts.get(key) ?? 0) + 1)
    if (!texts.has(key)) texts.set(key, verdict.answer)
  }
  const common = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, MAX_COUNTED_ANSWERS)
  return {
    scored,
    answers,
    distinct: counts.size,
    entropy: entropyOfCounts([...counts.values()]),
    counts: common.map(([text, count]) => ({ hash: hashText(text), count })),
    shown:
      texts
        .get(common[0]?.[0] ?? '')
        ?.slice(0, 64)
        .replaceAll('\0', ' ') ?? '',
  }
}

const OPENING: ReadonlySet<string> = new Set('"\'`(')
const CLOSING: ReadonlySet<string> = new Set('"\'`).')

/** Equal for answers that differ in case, space, surrounding quotes or a period at the end only, as scores mostly are. */
function normalizeAnswer(answer: string): string {
  const text = answer.length > MAX_HASHED_CHARS ? answer : answer.toLowerCase().replaceAll(/\s+/g, ' ').trim()
  let [from, to] = [0, text.length]
  while (from < to && OPENING.has(text.charAt(from))) from++
  while (to > from && CLOSING.has(text.charAt(to - 1))) to--
  return text.slice(from, to) || text
}

/** Returns a hash of 32 bits, which is enough for the few hundred answers of a window. */
export function hashText(text: string): number {
  const bounded = text.length > MAX_HASHED_CHARS ? `${text.length} ${text.slice(0, MAX_HASHED_CHARS)}` : text
  return crc32(bounded)
}
