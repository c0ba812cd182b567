/**
 * Adds feedback to verdicts without the full score. The question and the answer are all that it reads: neither the entry of
 * the item nor its score, beyond that it is not full.
 */
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type {
  Extraction,
  Feedback,
  FeedbackLevel,
  FormatFault,
  ScoringMode,
  Verdict,
} from '@reasoning-gym-server/contract/verdict'
import { bindExplainer, EXPLAINERS } from '@reasoning-gym-server/scorers/feedback/explainers'
import { type AnswerCheck, brokenRule, type Violation } from '@reasoning-gym-server/scorers/feedback/violation'
import { getBareAnswer } from '@reasoning-gym-server/scorers/hardened/notations'
import { LRUCache } from 'lru-cache'
import type { Engine } from '../engine/engine.ts'
import type { EventLoopBudget } from '../platform/event-loop-budget.ts'
import { countAnswerTags } from './answer-extraction.ts'
import type { ScorerThreadPool } from './scorer-thread-pool.ts'

interface FeedbackWriterDeps {
  engine: Pick<Engine, 'tasks' | 'explain'>
  loadQuestion: (recipe: Recipe) => Promise<string>
  threadPool: Pick<ScorerThreadPool, 'explain'>
  budget: EventLoopBudget
  maxAnswerChars: number
}

interface FeedbackRules {
  level: Exclude<FeedbackLevel, 'none'>
  extraction: Extraction
  scoring: ScoringMode
  /** The text of each completion, undefined where it has none. */
  completions: readonly (string | undefined)[]
}

interface BoundExplainer {
  question: string
  check: AnswerCheck | undefined
  /** By `explain_answer` of a custom task. */
  isInPython: boolean
}

const EXPLAINER_CACHE_SIZE = 4000
/** Longer answers are explained on a thread, where a deadline ends the work. */
const MAX_INLINE_CHARS = 1024

const MAX_TEXT_CHARS = 500

export const WRONG: Feedback = { kind: 'wrong', text: 'The answer is wrong.' }

export class FeedbackWriter {
  readonly #deps: FeedbackWriterDeps
  readonly #explainers = new LRUCache<string, BoundExplainer>({ max: EXPLAINER_CACHE_SIZE })
  /** The same by recipe object: repeated requests for an item share one object. */
  readonly #explainersByRecipe = new WeakMap<Recipe, BoundExplainer>()

  constructor(deps: FeedbackWriterDeps) {
    this.#deps = deps
  }

  /** Adds it to the verdicts themselves. */
  async addFeedback(recipe: Recipe, verdicts: readonly Verdict[], rules: FeedbackRules): Promise<void> {
    if (verdicts.every(isWithoutFeedback)) return
    const explainer = this.#getCachedExplainer(recipe) ?? (await this.#createExplainer(recipe))
    const violations = new Map<string, Violation | undefined>()
    const long: Promise<void>[] = []
    for (const verdict of verdicts) {
      if (isWithoutFeedback(verdict) || verdict.answer === null || violations.has(verdict.answer)) continue
      const { answer } = verdict
      const reading = readAnswer(answer, rules.scoring)
      if (reading.length > MAX_INLINE_CHARS && explainer.check)
        long.push(
          this.#explainOnThread(recipe.task, explainer, reading).then((found) => void violations.set(answer, found)),
        )
      violations.set(answer, undefined)
      if (reading.length <= MAX_INLINE_CHARS)
        violations.set(answer, await this.#deps.budget.run(() => explainer.check?.(reading)))
    }
    if (long.length > 0) await Promise.all(long)
    if (explainer.isInPython && rules.level === 'rule')
      await this.#explainInPython(recipe, explainer, violations, rules.scoring)
    for (let k = 0; k < verdicts.length; k++) {
      const verdict = verdicts[k]
      if (!verdict || isWithoutFeedback(verdict)) continue
      const { answer, fault } = verdict
      if (answer === null) {
        verdict.feedback = this.#describeFault(fault, rules, rules.completions[k] ?? '')
        continue
      }
      // whether the library raises may depend on the reference answer, so a check of the form comes before it
      const isUnread = fault === 'invalid_answer' && explainer.check === undefined
      const violation = violations.get(answer) ?? (isUnread ? UNREADABLE : undefined)
      const isTold = violation !== undefined && (violation.kind === 'format' || rules.level === 'rule')
      verdict.feedback = isTold ? shorten(violation) : WRONG
    }
  }

  #explainOnThread(task: string, { question }: BoundExplainer, answer: string): Promise<Violation | undefined> {
    return this.#deps.threadPool.explain({ task, question }, answer)
  }

  /** Fills in the violations. An answer on which `explain_answer` fails has none. */
  async #explainInPython(
    { task, engine: version }: Recipe,
    { question }: BoundExplainer,
    violations: Map<string, Violation | undefined>,
    scoring: ScoringMode,
  ): Promise<void> {
    const answers = [...violations.keys()]
    const readings = answers.map((answer) => readAnswer(answer, scoring))
    const outcomes = await this.#deps.engine.explain(task, question, readings, version)
    for (const [k, answer] of answers.entries()) {
      const outcome = outcomes[k]
      if (outcome?.kind === 'value' && typeof outcome.value === 'string')
        violations.set(answer, brokenRule(outcome.value))
    }
  }

  #getCachedExplainer(recipe: Recipe): BoundExplainer | undefined {
    return this.#explainersByRecipe.get(recipe) ?? this.#explainers.get(encodeItemId(recipe))
  }

  async #createExplainer(recipe: Recipe): Promise<BoundExplainer> {
    const question = await this.#deps.loadQuestion(recipe)
    const isInPython = EXPLAINERS[recipe.task] === undefined && (await this.#hasPythonExplainer(recipe.task))
    const bound = { question, check: bindExplainer(recipe.task, question), isInPython }
    this.#explainers.set(encodeItemId(recipe), bound)
    this.#explainersByRecipe.set(recipe, bound)
    return bound
  }

  async #hasPythonExplainer(task: string): Promise<boolean> {
    return (await this.#deps.engine.tasks())[task]?.custom?.explains === true
  }

  /** Says why a completion has no answer that can be read. */
  #describeFault(fault: FormatFault | null, { extraction }: FeedbackRules, completion: string): Feedback {
    const boxed = extraction === 'tag_or_boxed' ? ' and no \\boxed{…}' : ''
    const { openings, closings } = countAnswerTags(completion)
    switch (fault) {
      case 'no_answer':
        return tellFormat(`The reply has no <answer>…</answer>${boxed} after the thinking.`)
      case 'many_answers':
        return tellFormat(
          `The reply must have exactly one <answer>…</answer>, but it has <answer> ${times(openings)} and </answer> ${times(closings)}.`,
        )
      case 'unclosed_answer':
        return tellFormat('The reply opens <answer>, but does not close it with </answer>.')
      case 'unclosed_think':
        return tellFormat('The reply ends inside <think>: there is no </think> and no answer after it.')
      case 'answer_too_long':
        return tellFormat(`The answer is longer than ${this.#deps.maxAnswerChars} characters.`)
      case 'invalid_answer':
      case null:
        return UNREADABLE
    }
  }
}

/** It may quote the answer, such as a number of a thousand digits. */
function shorten(violation: Violation): Violation {
  if (violation.text.length <= MAX_TEXT_CHARS) return violation
  return { ...violation, text: `${violation.text.slice(0, MAX_TEXT_CHARS - 1).toWellFormed()}…` }
}

function readAnswer(answer: string, scoring: ScoringMode): string {
  return scoring === 'hardened' ? getBareAnswer(answer) : answer
}

/** Of a right answer nothing is said, and of one that could not be scored nothing is known. */
function isWithoutFeedback(verdict: Verdict): verdict is Extract<Verdict, { status: 'unscored' }> {
  return verdict.status === 'unscored' || verdict.score >= 1
}

const UNREADABLE = tellFormat('The answer cannot be read in the form that the question asks for.')

function tellFormat(text: string): Violation {
  return { kind: 'format', text }
}

function times(n: number): string {
  return n === 1 ? 'once' : `${n} times`
}
