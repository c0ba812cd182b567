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
  FormatErrorCode,
  ScoringMode,
  Verdict,
} from '@reasoning-gym-server/contract/verdict'
import { bindExplainer } from '@reasoning-gym-server/scorers/feedback/explainers'
import type { AnswerCheck, Violation } from '@reasoning-gym-server/scorers/feedback/violation'
import { getBareAnswer } from '@reasoning-gym-server/scorers/hardened/hardened-scorer'
import { LRUCache } from 'lru-cache'
import { countAnswerTags } from './answer-extraction.ts'
import type { ScorerThreadPool } from './scorer-thread-pool.ts'

interface FeedbackWriterDeps {
  loadQuestion: (recipe: Recipe) => Promise<string>
  threadPool: Pick<ScorerThreadPool, 'explain'>
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
}

const EXPLAINER_CACHE_SIZE = 4000
/** Longer answers are explained on a thread, where a deadline ends the work. */
const MAX_INLINE_CHARS = 1024

export const WRONG: Feedback = { kind: 'wrong', text: 'The answer is wrong.' }

export class FeedbackWriter {
  readonly #deps: FeedbackWriterDeps
  readonly #explainers = new LRUCache<string, BoundExplainer>({ max: EXPLAINER_CACHE_SIZE })

  constructor(deps: FeedbackWriterDeps) {
    this.#deps = deps
  }

  async addFeedback(recipe: Recipe, verdicts: readonly Verdict[], rules: FeedbackRules): Promise<Verdict[]> {
    if (verdicts.every((verdict) => verdict.status === 'unscored' || verdict.score >= 1)) return [...verdicts]
    const explainer = await this.#getOrCreateExplainer(recipe)
    const known = new Map<string, Promise<Violation | undefined> | Violation | undefined>()
    return Promise.all(
      verdicts.map(async (verdict, k) => {
        if (verdict.status === 'unscored' || verdict.score >= 1) return verdict
        const { fault, answer } = verdict
        if (answer === null)
          return { ...verdict, feedback: this.#describeFault(fault, rules, rules.completions[k] ?? '') }
        if (!known.has(answer)) known.set(answer, this.#explain(recipe.task, explainer, answer, rules.scoring))
        const violation = (await known.get(answer)) ?? (fault === 'invalid_answer' ? UNREADABLE : undefined)
        const isTold = violation !== undefined && (violation.kind === 'format' || rules.level === 'rule')
        return { ...verdict, feedback: isTold ? violation : WRONG }
      }),
    )
  }

  #explain(task: string, { question, check }: BoundExplainer, answer: string, scoring: ScoringMode) {
    const reading = scoring === 'hardened' ? getBareAnswer(answer) : answer
    if (!check) return undefined
    return reading.length > MAX_INLINE_CHARS
      ? this.#deps.threadPool.explain({ task, question }, reading)
      : check(reading)
  }

  async #getOrCreateExplainer(recipe: Recipe): Promise<BoundExplainer> {
    const key = encodeItemId(recipe)
    const cached = this.#explainers.get(key)
    if (cached) return cached
    const question = await this.#deps.loadQuestion(recipe)
    const bound = { question, check: bindExplainer(recipe.task, question) }
    this.#explainers.set(key, bound)
    return bound
  }

  /** Says why a completion has no answer that can be read. */
  #describeFault(fault: FormatErrorCode | null, { extraction }: FeedbackRules, completion: string): Feedback {
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

const UNREADABLE = tellFormat('The answer cannot be read in the form that the question asks for.')

function tellFormat(text: string): Violation {
  return { kind: 'format', text }
}

function times(n: number): string {
  return n === 1 ? 'once' : `${n} times`
}
