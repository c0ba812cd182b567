/** Grades submissions: extracts the answers, scores each distinct text once and builds the verdicts. */

import { isTemporaryFailure } from '@reasoning-gym-server/contract/errors'
import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { Extraction, FeedbackLevel, ScoringMode, Verdict } from '@reasoning-gym-server/contract/verdict'
import { isAnswerable, mayLackRightAnswer } from '@reasoning-gym-server/scorers/corrections/corrections'
import { NATIVE_SCORERS } from '@reasoning-gym-server/scorers/native-scorers'
import type { DatasetEntry } from '@reasoning-gym-server/scorers/scorer'
import type { Logger } from 'pino'
import { type Engine, getConfigDefaults } from '../engine/engine.ts'
import { EventLoopBudget } from '../platform/event-loop-budget.ts'
import type { Platform } from '../platform/platform.ts'
import { NO_TRACING, type Tracing } from '../platform/telemetry/tracing.ts'
import type { ExtractionRules } from './answer-extraction.ts'
import { FeedbackWriter } from './feedback-writer.ts'
import { LibraryScorer } from './library-scorer.ts'
import { NativeScorer } from './native-scorer.ts'
import { ScorerThreadPool } from './scorer-thread-pool.ts'
import { RuleError } from './scoring-rule.ts'
import {
  extractSubmission,
  isSingle,
  listTurns,
  type ModelOutput,
  readOutput,
  type SingleSubmission,
  submissionText,
} from './submission.ts'
import { decideTurn } from './tries.ts'
import {
  buildVerdict,
  formatFaultVerdict,
  listDualFormatVariants,
  type ScorerResult,
  unscoredVerdict,
} from './verdict.ts'

export interface GradingRules {
  extraction: Extraction
  stop?: ExtractionRules['stop']
  opens_thinking?: boolean
  dual_format: boolean
  scoring: ScoringMode
  /** Default: none. */
  feedback?: FeedbackLevel
}

export type AuditRules = Pick<GradingRules, 'dual_format' | 'scoring'>

/** How one verdict was reached. `scorerResults` holds the bare answer, then the tagged one; it is empty without an answer. */
export interface GradingTrace {
  rollout: number
  text: string | undefined
  extraction: Extraction
  scorerResults: ScorerResult[]
  verdict: Verdict
}

/** Loads the dataset entry that the answers to an item are scored against. */
type LoadEntry = (recipe: Recipe) => Promise<DatasetEntry>

type LoadQuestion = (recipe: Recipe) => Promise<string>

/** Counters of grading, by task. */
interface GradingStatistics {
  recordScoredRollouts(task: string, rollouts: number, score: number): void
  /** Distinct answers passed to a scorer, and the time it took. */
  recordScorerCalls(task: string, answers: number, ms: number): void
}

interface GradeOptions {
  /** Throws `engine_unavailable`, so that the queue retries the job. */
  orThrow?: boolean
  /** Receives how each verdict was reached. */
  onTrace?: ((trace: GradingTrace) => void) | undefined
}

interface GraderDeps {
  engine: Engine
  loadEntry: LoadEntry
  /** Loads all that feedback may know of an item. */
  loadQuestion: LoadQuestion
  statistics: GradingStatistics
  threadPool: ScorerThreadPool
  maxAnswerChars: number
  log?: Logger
  /** Default: none. */
  tracing?: Tracing
}

/** Creates the grader of one process and its pool of scorer threads. */
export function createGrading(
  { config, log, tracing }: Platform,
  deps: Pick<GraderDeps, 'engine' | 'loadEntry' | 'loadQuestion' | 'statistics'>,
): { grader: Grader; close(): Promise<void> } {
  const threadPool = new ScorerThreadPool(config.PYTHON_WORKERS, config.SCORE_DEADLINE_MS)
  return {
    grader: new Grader({ ...deps, log, threadPool, tracing, maxAnswerChars: config.ANSWER_MAX_CHARS }),
    close: () => threadPool.close(),
  }
}

export class Grader {
  readonly #deps: GraderDeps
  readonly #native: NativeScorer
  readonly #library: LibraryScorer
  readonly #feedback: FeedbackWriter
  readonly #tracing: Tracing
  readonly #namedFailures = new Set<string>()

  constructor(deps: GraderDeps) {
    const { engine, loadEntry, loadQuestion, threadPool, maxAnswerChars, tracing = NO_TRACING } = deps
    const loadRuleInputs = async (recipe: Recipe) => {
      const [entry, tasks] = await Promise.all([loadEntry(recipe), engine.tasks()])
      return { entry, config: { ...getConfigDefaults(tasks[recipe.task]), ...recipe.config } }
    }
    this.#deps = deps
    this.#tracing = tracing
    const budget = new EventLoopBudget()
    this.#native = new NativeScorer(loadRuleInputs, threadPool, budget)
    this.#library = new LibraryScorer(loadRuleInputs, engine, threadPool, budget, tracing)
    this.#feedback = new FeedbackWriter({ engine, loadQuestion, threadPool, budget, maxAnswerChars })
  }

  /** Returns one verdict for each output, in order. */
  async grade(
    recipe: Recipe,
    outputs: readonly ModelOutput[],
    rules: GradingRules,
    options: GradeOptions = {},
  ): Promise<Verdict[]> {
    const verdicts = await this.#gradeInSpan(recipe, outputs, rules, options)
    this.countGraded(recipe.task, verdicts)
    return verdicts
  }

  /** Counts verdicts of `gradeWithoutStatistics`. */
  countGraded(task: string, verdicts: readonly Verdict[]): void {
    let scored = 0
    let scoreSum = 0
    for (const verdict of verdicts) {
      if (verdict.status !== 'scored') continue
      scored++
      scoreSum += verdict.score
    }
    this.#deps.statistics.recordScoredRollouts(task, scored, scoreSum)
  }

  /** The same as `grade` for outputs that are counted with their group. Throws `engine_unavailable`. */
  gradeWithoutStatistics(recipe: Recipe, outputs: readonly ModelOutput[], rules: GradingRules): Promise<Verdict[]> {
    return this.#gradeInSpan(recipe, outputs, rules, { orThrow: true })
  }

  #gradeInSpan(
    recipe: Recipe,
    outputs: readonly ModelOutput[],
    rules: GradingRules,
    options: GradeOptions,
  ): Promise<Verdict[]> {
    const attributes = { 'rgs.task': recipe.task, 'rgs.completions': outputs.length }
    return this.#tracing.span('score', { kind: 'internal', attributes }, () =>
      this.#grade(recipe, outputs, rules, options),
    )
  }

  async #grade(
    recipe: Recipe,
    outputs: readonly ModelOutput[],
    rules: GradingRules,
    options: GradeOptions,
  ): Promise<Verdict[]> {
    if (rules.scoring === 'hardened' && !(await this.#isAnswerable(recipe, options)))
      return outputs.map(() => unscoredVerdict('no_right_answer', NO_RIGHT_ANSWER))
    const submissions = outputs.map(readOutput)
    if (submissions.every(isSingle)) return this.#gradeSingles(recipe, submissions, rules, options)
    const turns = submissions.map(listTurns)
    const verdicts = await this.#gradeSingles(recipe, turns.flat(), rules, options)
    return turns.map(({ length }, k) => {
      const own = verdicts.splice(0, length)
      return isSingle(submissions[k]) ? (own[0] ?? MISSING_VERDICT) : decideTurn(own)
    })
  }

  /** Most tasks have a right answer to every item, so that none is loaded for this. */
  async #isAnswerable(recipe: Recipe, { orThrow = false }: GradeOptions): Promise<boolean> {
    if (!mayLackRightAnswer(recipe.task)) return true
    try {
      return isAnswerable(recipe.task, await this.#deps.loadEntry(recipe))
    } catch (error) {
      if (orThrow || !isTemporaryFailure(error)) throw error
      return true // scoring fails alike, for each text of its own
    }
  }

  async #gradeSingles(
    recipe: Recipe,
    submissions: readonly SingleSubmission[],
    rules: GradingRules,
    { orThrow = false, onTrace }: GradeOptions,
  ): Promise<Verdict[]> {
    const extractions = submissions.map((submission) => this.#extract(submission, rules))
    const texts = new Set<string>()
    for (const { answerVariants } of extractions) for (const text of answerVariants) texts.add(text)
    const scorerResults = await this.#scoreTexts(recipe, [...texts], rules.scoring, orThrow)
    const verdicts = extractions.map(({ answer, answerVariants, verdict: knownVerdict }, rollout) => {
      const variantResults = answerVariants.map((text) => scorerResults.get(text) ?? MISSING_RESULT)
      const verdict = knownVerdict ?? buildVerdict(answer, variantResults)
      if (onTrace) {
        const submission = submissions[rollout]
        onTrace({
          rollout,
          text: submission && submissionText(submission),
          extraction: rules.extraction,
          scorerResults: variantResults,
          verdict,
        })
      }
      return verdict
    })
    const { feedback = 'none', extraction, scoring } = rules
    if (feedback !== 'none') {
      const completions = submissions.map(submissionText)
      await this.#feedback.addFeedback(recipe, verdicts, { level: feedback, extraction, scoring, completions })
    }
    return verdicts
  }

  /** Whether this process scores the task itself, without the library. */
  isNative(task: string): boolean {
    return NATIVE_SCORERS[task] !== undefined
  }

  /** Loads what `scoreCached` needs of an item of a native task. */
  async loadRule(recipe: Recipe, scoring: ScoringMode): Promise<void> {
    await this.#native.score(recipe, [], scoring)
  }

  /**
   * The scores of short answers of a native task, at once and in no statistics: null where an answer has none, undefined if
   * this process has not lately scored the item.
   */
  scoreCached(recipe: Recipe, answers: readonly string[], rules: AuditRules): (number | null)[] | undefined {
    const variants = answers.map((answer) => listDualFormatVariants(answer, rules.dual_format))
    const texts = [...new Set(variants.flat())]
    const results = this.#native.scoreCached(recipe, texts, rules.scoring)
    if (!results) return undefined
    const resultOf = new Map(texts.map((text, k) => [text, results[k] ?? MISSING_RESULT]))
    return variants.map((list, k) => {
      const variantResults = list.map((text) => resultOf.get(text) ?? MISSING_RESULT)
      return buildVerdict(answers[k] ?? '', variantResults).score
    })
  }

  /** The same for a task that the library scores. */
  scoreInLibrary(recipe: Recipe, answers: readonly string[], rules: AuditRules): Promise<(number | null)[]> {
    return Promise.all(
      answers.map(async (answer) => {
        const variants = listDualFormatVariants(answer, rules.dual_format)
        return buildVerdict(answer, await this.#library.score(recipe, variants, rules.scoring, false)).score
      }),
    )
  }

  #runScorer(recipe: Recipe, texts: string[], scoring: ScoringMode, orThrow: boolean): Promise<ScorerResult[]> {
    return this.isNative(recipe.task)
      ? this.#native.score(recipe, texts, scoring)
      : this.#library.score(recipe, texts, scoring, orThrow)
  }

  #extract(submission: SingleSubmission, rules: GradingRules): ExtractedAnswer {
    if (submission.kind === 'nothing') {
      this.#warnOfFailure(submission.detail)
      return verdictOnly(unscoredVerdict('generation_failed', submission.detail))
    }
    const extracted = extractSubmission(submission, rules, this.#deps.maxAnswerChars)
    if (extracted.kind === 'fault') return verdictOnly(formatFaultVerdict(extracted.fault))
    const { answer } = extracted
    return { answer, answerVariants: listDualFormatVariants(answer, rules.dual_format) }
  }

  /** Names each kind of failed generation once: a reason that the server does not know may be one that it should. */
  #warnOfFailure(detail: string): void {
    if (this.#namedFailures.size >= MAX_NAMED_FAILURES || this.#namedFailures.has(detail)) return
    this.#namedFailures.add(detail)
    this.#deps.log?.warn({ detail }, 'completions are unscored, because their generation failed')
  }

  async #scoreTexts(
    recipe: Recipe,
    texts: string[],
    scoring: GradingRules['scoring'],
    orThrow: boolean,
  ): Promise<Map<string, ScorerResult>> {
    if (texts.length === 0) return new Map()
    try {
      const startedAt = performance.now()
      const results = await this.#runScorer(recipe, texts, scoring, orThrow)
      this.#deps.statistics.recordScorerCalls(recipe.task, texts.length, performance.now() - startedAt)
      return new Map(texts.map((text, k) => [text, results[k] ?? MISSING_RESULT]))
    } catch (error) {
      // A rule that cannot be made of an item is the server's fault, and costs the completions of this item alone.
      if (error instanceof RuleError) return failAll(texts, 'scorer_crashed', error.message)
      if (orThrow || !isTemporaryFailure(error)) throw error
      return failAll(texts, 'engine_unavailable', error.message)
    }
  }
}

function failAll(
  texts: string[],
  code: 'engine_unavailable' | 'scorer_crashed',
  detail: string,
): Map<string, ScorerResult> {
  return new Map(texts.map((text) => [text, { kind: 'failed', code, detail }]))
}

/** An answer and the texts to score for it, or the verdict if there is nothing to score. */
interface ExtractedAnswer {
  answer: string
  answerVariants: string[]
  verdict?: Verdict
}

function verdictOnly(verdict: Verdict): ExtractedAnswer {
  return { answer: '', answerVariants: [], verdict }
}

const MAX_NAMED_FAILURES = 100
const NO_RIGHT_ANSWER =
  'No answer to this item is right, so hardened scoring gives none a score. Use another item, or `scoring: "upstream"`.'

const MISSING_RESULT: Extract<ScorerResult, { kind: 'failed' }> = {
  kind: 'failed',
  code: 'engine_unavailable',
  detail: 'the scorer returned no result',
}

const MISSING_VERDICT = unscoredVerdict(MISSING_RESULT.code, MISSING_RESULT.detail)
