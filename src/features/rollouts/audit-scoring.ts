/**
 * Audits the reward: scores a sample of the answers of scored groups a second time, to detect reward hacks. The hack gap
 * compares upstream scoring with hardened scoring. The permuted score is the score of an answer on another recent item of
 * the same task and config; an answer that scores there does so without reading the question. Audits run after their
 * group is completed, and their results are kept with the next group of the task, so that they neither delay nor change
 * a group. Failed audits are left out.
 */

import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import { LRUCache } from 'lru-cache'
import type { AuditRules, Grader } from '../../grading/grader.ts'
import type { AuditResults, AuditSums } from '../runs/diagnosis/group-outcome.ts'
import { hashText } from './group-counters.ts'

/**
 * Share of the busy time of the event loop, and of the time that the library scores. Together, the audits stay under
 * 3%.
 */
const MAX_SHARE = 0.02
/** Initial budget in milliseconds, for the first groups of a process, before its work has earned any time. */
const INITIAL_MS = 250
/** Limit of families (tasks of runs) whose items are remembered, and of items per family. */
const MAX_FAMILIES = 4000
const ITEMS_PER_FAMILY = 4
/** Number of answers per group. Answers from one group tell less than those from several groups. */
const ANSWERS_PER_GROUP = 2
/** Limit of the length of an answer. Longer answers are scored on threads, which audits leave to the groups. */
const MAX_ANSWER_CHARS = 1024
/** Limit of the library's grading time for a group. Above it, an answer on another item may take until the deadline. */
const MAX_LIBRARY_MS_PER_GROUP = 250

/** A graded group whose answers may be checked. */
export interface AuditInput {
  run: string
  epoch: number
  group: string
  recipe: Recipe
  /** Hash of the item's question. */
  question: number
  rules: AuditRules
  verdicts: readonly GroupVerdict[]
  gradingMs: number
}

interface KnownItem {
  recipe: Recipe
  question: number
}

interface AuditScoringDeps {
  grader: Pick<Grader, 'isNative' | 'loadRule' | 'scoreCached' | 'scoreInLibrary'>
  /** Measures the total busy time of this process, in milliseconds. */
  measureBusyMs?: () => number
}

export class AuditScoring {
  readonly #grader: AuditScoringDeps['grader']
  readonly #items = new LRUCache<string, KnownItem[]>({ max: MAX_FAMILIES })
  readonly #results = new LRUCache<string, AuditResults>({ max: MAX_FAMILIES })
  readonly #nativeBudget: AuditBudget
  readonly #libraryBudget = new AuditBudget(() => this.#libraryMs)
  /** Audits that the library still scores. Native ones end at once. */
  readonly #inFlight = new Set<Promise<void>>()
  #libraryMs = 0
  #isLibraryBusy = false

  constructor({ grader, measureBusyMs = () => performance.eventLoopUtilization().active }: AuditScoringDeps) {
    this.#grader = grader
    this.#nativeBudget = new AuditBudget(measureBusyMs)
  }

  /** Takes the results for a task of a run that were collected since the last call. */
  take(run: string, epoch: number, task: string): AuditResults {
    const key = `${run}/${epoch}/${task}`
    const results = this.#results.get(key) ?? createResults()
    this.#results.delete(key)
    return results
  }

  /** Checks the group as far as there is time. Resolves when done and never rejects. */
  check(input: AuditInput): Promise<void> {
    const audit = this.#check(input)
    this.#inFlight.add(audit)
    return audit.finally(() => this.#inFlight.delete(audit))
  }

  async close(): Promise<void> {
    await Promise.all(this.#inFlight)
  }

  async #check(input: AuditInput): Promise<void> {
    try {
      const other = this.#exchangeItem(input)
      if (this.#grader.isNative(input.recipe.task)) await this.#checkNative(input, other)
      else await this.#checkInLibrary(input, other)
    } catch {
      // The item or the engine is gone, so there is no sample.
    }
  }

  async #checkNative(input: AuditInput, other: KnownItem | undefined): Promise<void> {
    if (!this.#nativeBudget.hasLeft()) return
    await this.#grader.loadRule(input.recipe, input.rules.scoring) // of a group whose verdicts were known
    const startedAt = performance.now()
    const sample = sampleAnswers(input)
    const answers = sample.map(({ answer }) => answer)
    const otherScores = this.#grader.scoreCached(input.recipe, answers, switchMode(input.rules))
    const permutedScores = other && this.#grader.scoreCached(other.recipe, answers, input.rules)
    this.#record(input, { sample, otherScores, permutedScores })
    this.#nativeBudget.spend(performance.now() - startedAt)
  }

  async #checkInLibrary(input: AuditInput, other: KnownItem | undefined): Promise<void> {
    this.#libraryMs += input.gradingMs
    if (this.#isLibraryBusy || input.gradingMs > MAX_LIBRARY_MS_PER_GROUP || !this.#libraryBudget.hasLeft()) return
    this.#isLibraryBusy = true
    const startedAt = performance.now()
    try {
      const sample = sampleAnswers(input)
      const answers = sample.map(({ answer }) => answer)
      const otherScores = await this.#grader.scoreInLibrary(input.recipe, answers, switchMode(input.rules))
      const permutedScores = other && (await this.#grader.scoreInLibrary(other.recipe, answers, input.rules))
      this.#record(input, { sample, otherScores, permutedScores })
    } finally {
      this.#libraryBudget.spend(performance.now() - startedAt)
      this.#isLibraryBusy = false
    }
  }

  #record({ run, epoch, recipe, rules }: AuditInput, { sample, otherScores, permutedScores }: AuditScores): void {
    const key = `${run}/${epoch}/${recipe.task}`
    const { hackGap, permuted } = this.#results.get(key) ?? createResults()
    sample.forEach(({ score }, k) => {
      const otherScore = otherScores?.[k] ?? null
      const permutedScore = permutedScores?.[k] ?? null
      if (otherScore !== null) add(hackGap, rules.scoring === 'hardened' ? otherScore - score : score - otherScore)
      if (permutedScore !== null) add(permuted, permutedScore)
    })
    this.#results.set(key, { hackGap, permuted })
  }

  /** Remembers the item and returns another one of its family with a different question. */
  #exchangeItem({ run, epoch, recipe, question }: AuditInput): KnownItem | undefined {
    const family = `${run}/${epoch}/${recipe.task} ${JSON.stringify(recipe.config)}`
    const items = this.#items.get(family) ?? []
    const others = items.filter((item) => item.question !== question)
    if (others.length === items.length)
      this.#items.set(family, [...items.slice(1 - ITEMS_PER_FAMILY), { recipe, question }])
    return others[0]
  }
}

interface AnsweredVerdict {
  answer: string
  score: number
}

/** Scores by the index of the answer in the sample: under the other scoring mode, and on another item. */
interface AuditScores {
  sample: AnsweredVerdict[]
  otherScores: (number | null)[] | undefined
  permutedScores: (number | null)[] | undefined
}

/** Samples rollouts with an answer by the ID of the group, so that a repeated run checks the same ones. */
function sampleAnswers({ group, verdicts }: AuditInput): AnsweredVerdict[] {
  const answered = verdicts.flatMap((verdict): AnsweredVerdict[] => {
    if (verdict.status !== 'scored' || verdict.answer === null || verdict.answer.length > MAX_ANSWER_CHARS) return []
    return [{ answer: verdict.answer, score: verdict.score }]
  })
  const start = answered.length === 0 ? 0 : hashText(group) % answered.length
  return [...answered.slice(start), ...answered.slice(0, start)].slice(0, ANSWERS_PER_GROUP)
}

function switchMode({ scoring, dual_format }: AuditRules): AuditRules {
  return { scoring: scoring === 'hardened' ? 'upstream' : 'hardened', dual_format }
}

function createResults(): AuditResults {
  return { hackGap: { count: 0, sum: 0 }, permuted: { count: 0, sum: 0 } }
}

function add(sums: AuditSums, value: number): void {
  sums.count++
  sums.sum += value
}

/** Limits the time of audits to a share of the time that scoring takes. */
class AuditBudget {
  readonly #measureWorkMs: () => number
  #spentMs = 0

  /** `measureWorkMs` returns the total time so far of the work that the audits accompany. */
  constructor(measureWorkMs: () => number) {
    this.#measureWorkMs = measureWorkMs
  }

  hasLeft(): boolean {
    return this.#spentMs < INITIAL_MS + MAX_SHARE * this.#measureWorkMs()
  }

  spend(ms: number): void {
    this.#spentMs += ms
  }
}
