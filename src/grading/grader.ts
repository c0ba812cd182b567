/** From completions to verdicts: reads them, asks a scorer once for each text that differs, puts the verdicts together. */

import { isTemporaryFailure } from '../contract/errors.ts'
import type { Recipe } from '../contract/recipe.ts'
import type { Message } from '../contract/rollout.ts'
import type { Extraction, ScoringMode, Verdict } from '../contract/verdict.ts'
import { type Engine, getConfigDefaults } from '../engine/engine.ts'
import { NATIVE_SCORERS } from '../scorers/native-scorers.ts'
import { codePointLength } from '../scorers/python/text.ts'
import type { DatasetEntry } from '../scorers/scorer.ts'
import { type ExtractionResult, extractAnswer, extractFromVisible } from './answer-extraction.ts'
import { getFinalText } from './final-message.ts'
import { LibraryScorer } from './library-scorer.ts'
import { NativeScorer } from './native-scorer.ts'
import type { ScorerThreadPool } from './scorer-thread-pool.ts'
import {
  buildVerdict,
  formatErrorVerdict,
  listDualFormatVariants,
  type ScorerResult,
  unscoredVerdict,
} from './verdict.ts'

/** What a model gave: text, a conversation, the bare answer, or nothing (the client says that generation failed). */
export type Submission =
  | { kind: 'completion'; completion: string }
  | { kind: 'messages'; messages: Message[] }
  | { kind: 'answer'; answer: string }
  | { kind: 'nothing'; detail: string }

export interface GradingRules {
  extraction: Extraction
  dual_format: boolean
  scoring: ScoringMode
}

/** How one verdict came about. `readings`: bare, then in tags; none where there was no answer. */
export interface GradingTrace {
  rollout: number
  text: string | undefined
  extraction: Extraction
  scorerResults: ScorerResult[]
  verdict: Verdict
}

/** The entry that an item is scored against. */
export type LoadEntry = (recipe: Recipe) => Promise<DatasetEntry>

/** What grading counts, by task. */
export interface GradingStatistics {
  recordScoredRollouts(task: string, rollouts: number, score: number): void
  /** Answers that a scorer was asked for; equal ones count once. */
  recordScorerCalls(task: string, answers: number, ms: number): void
}

interface GraderDeps {
  engine: Engine
  loadEntry: LoadEntry
  statistics: GradingStatistics
  threadPool: ScorerThreadPool
  maxAnswerChars: number
}

export class Grader {
  readonly #deps: GraderDeps
  readonly #native: NativeScorer
  readonly #library: LibraryScorer

  constructor(parts: GraderDeps) {
    const { engine, loadEntry, threadPool } = parts
    const facts = async (recipe: Recipe) => {
      const [entry, known] = await Promise.all([loadEntry(recipe), engine.tasks()])
      return { entry, config: { ...getConfigDefaults(known[recipe.task]), ...recipe.config } }
    }
    this.#deps = parts
    this.#native = new NativeScorer(facts, threadPool)
    this.#library = new LibraryScorer(facts, engine)
  }

  /**
   * One verdict for each, in order. Throws `engine_unavailable` only if `orThrow`: then a queued job is tried again.
   * `onTrace` hears how each came about.
   */
  async grade(
    recipe: Recipe,
    given: Submission[],
    rules: GradingRules,
    orThrow = false,
    onTrace?: (trace: GradingTrace) => void,
  ): Promise<Verdict[]> {
    const read = given.map((one) => this.#extract(one, rules))
    const texts = new Set<string>()
    for (const { answerVariants: readings } of read) for (const text of readings) texts.add(text)
    const scorings = await this.#scoreTexts(recipe, [...texts], rules.scoring, orThrow)
    let [scored, sum] = [0, 0]
    const verdicts = read.map(({ answer, answerVariants: readings, verdict }, rollout) => {
      const found = readings.map((text) => scorings.get(text) ?? MISSING_RESULT)
      const made = verdict ?? buildVerdict(answer, found)
      if (onTrace) {
        const one = given[rollout]
        onTrace({
          rollout,
          text: one && submissionText(one),
          extraction: rules.extraction,
          scorerResults: found,
          verdict: made,
        })
      }
      if (made.status === 'scored') {
        scored++
        sum += made.score
      }
      return made
    })
    this.#deps.statistics.recordScoredRollouts(recipe.task, scored, sum)
    return verdicts
  }

  #extract(given: Submission, { extraction, dual_format }: GradingRules): ExtractedAnswer {
    if (given.kind === 'nothing') return verdictOnly(unscoredVerdict('generation_failed', given.detail))
    const reading = extractSubmission(given, extraction)
    if (reading.kind === 'fault') return verdictOnly(formatErrorVerdict(reading.fault))
    const { answer } = reading
    const most = this.#deps.maxAnswerChars
    if (answer.length > most && codePointLength(answer) > most)
      return verdictOnly(formatErrorVerdict('answer_too_long'))
    return { answer, answerVariants: listDualFormatVariants(answer, dual_format) }
  }

  async #scoreTexts(
    recipe: Recipe,
    texts: string[],
    scoring: GradingRules['scoring'],
    orThrow: boolean,
  ): Promise<Map<string, ScorerResult>> {
    if (texts.length === 0) return new Map()
    try {
      const started = performance.now()
      const scorings = NATIVE_SCORERS[recipe.task]
        ? await this.#native.score(recipe, texts, scoring)
        : await this.#library.score(recipe, texts, scoring, orThrow)
      this.#deps.statistics.recordScorerCalls(recipe.task, texts.length, performance.now() - started)
      return new Map(texts.map((text, k) => [text, scorings[k] ?? MISSING_RESULT]))
    } catch (error) {
      if (orThrow || !isTemporaryFailure(error)) throw error
      return new Map(texts.map((text) => [text, { kind: 'failed', code: 'engine_unavailable', detail: error.message }]))
    }
  }
}

/** An answer and the texts that are scored for it, or the verdict where there is nothing to score. */
interface ExtractedAnswer {
  answer: string
  answerVariants: string[]
  verdict?: Verdict
}

function verdictOnly(verdict: Verdict): ExtractedAnswer {
  return { answer: '', answerVariants: [], verdict }
}

const MISSING_RESULT: ScorerResult = { kind: 'failed', code: 'engine_unavailable', detail: 'no result came' }

function submissionText(given: Submission): string | undefined {
  switch (given.kind) {
    case 'completion':
      return given.completion
    case 'answer':
      return given.answer
    case 'messages':
      return getFinalText(given.messages)?.text
    case 'nothing':
      return undefined
  }
}

function extractSubmission(given: Exclude<Submission, { kind: 'nothing' }>, extraction: Extraction): ExtractionResult {
  switch (given.kind) {
    case 'answer':
      return given
    case 'completion':
      return extractAnswer(given.completion, extraction)
    case 'messages': {
      const final = getFinalText(given.messages)
      if (!final) return { kind: 'fault', fault: 'no_answer' }
      if (extraction === 'bare' || !final.thinkingApart) return extractAnswer(final.text, extraction)
      return extractFromVisible({ text: final.text, hasUnclosedThink: false }, extraction)
    }
  }
}
