/**
 * Scores answers with the library itself, in the Python workers, for tasks without a native scorer; with a scorer beside a custom
 * task, if it has one. Answers whose score is certain without the library are scored here.
 */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { ScoringMode, UnscoredCode } from '@reasoning-gym-server/contract/verdict'
import { createReader, listUndecidedReadings } from '@reasoning-gym-server/scorers/hardened/hardened-scorers'
import { PARTIAL_SCORERS } from '@reasoning-gym-server/scorers/native-scorers'
import { InvalidAnswerError, type PartialRule } from '@reasoning-gym-server/scorers/scorer'
import { LRUCache } from 'lru-cache'
import { type Engine, type EngineLossReason, type EngineOutcome, unwrapOutcome } from '../engine/engine.ts'
import type { EventLoopBudget } from '../platform/event-loop-budget.ts'
import { NO_TRACING, type Tracing } from '../platform/telemetry/tracing.ts'
import type { CustomScorerSpec } from './custom-scorer.ts'
import { needsRun, scoreByRun } from './program-runs.ts'
import type { ScorerThreadPool } from './scorer-thread-pool.ts'
import { applyRule, bindMode, type LoadRuleInputs, type RuleInputs } from './scoring-rule.ts'
import type { ScorerResult } from './verdict.ts'

const UNSCORED_CODES: Record<EngineLossReason, UnscoredCode> = {
  timeout: 'scorer_timeout',
  starved: 'scorer_timeout',
  crashed: 'scorer_crashed',
  out_of_memory: 'scorer_out_of_memory',
  unavailable: 'engine_unavailable',
}

const MAX_CACHED_CHARS = 16 * 2 ** 20
const RULE_CACHE_SIZE = 1000

export class LibraryScorer {
  readonly #loadRuleInputs: LoadRuleInputs
  readonly #engine: Engine
  readonly #threadPool: ScorerThreadPool
  readonly #budget: EventLoopBudget
  readonly #tracing: Tracing
  /** Results by item and answer: the same answers recur, and sympy may need seconds for one of them. */
  readonly #cache = new LRUCache<string, ScorerResult>({
    maxSize: MAX_CACHED_CHARS,
    sizeCalculation: (_, key) => key.length,
  })
  /** By item. */
  readonly #partialRules = new LRUCache<string, PartialRule>({ max: RULE_CACHE_SIZE })

  constructor(
    loadRuleInputs: LoadRuleInputs,
    engine: Engine,
    threadPool: ScorerThreadPool,
    budget: EventLoopBudget,
    tracing = NO_TRACING,
  ) {
    this.#loadRuleInputs = loadRuleInputs
    this.#engine = engine
    this.#threadPool = threadPool
    this.#budget = budget
    this.#tracing = tracing
  }

  /** Returns one result for each text, in order. Throws `engine_unavailable` only with `orThrow`. */
  async score(recipe: Recipe, texts: string[], mode: ScoringMode, orThrow: boolean): Promise<ScorerResult[]> {
    const inputs = await this.#loadRuleInputs(recipe)
    if (mode === 'upstream') return this.#scoreWithCache(recipe, inputs, texts, mode, orThrow)
    const variants = await this.#budget.run(() => listUndecidedReadings(recipe.task, inputs, texts))
    const variantResults = await this.#scoreWithCache(recipe, inputs, variants, mode, orThrow)
    const results = new Map(variants.map((variant, k) => [variant, variantResults[k]]))
    const upstream = (variant: string) => requireScore(results.get(variant))
    const rule = bindMode(upstream, { task: recipe.task, ...inputs }, 'hardened')
    const read = createReader(recipe.task, inputs)
    return texts.map((text) => {
      const failure = read(text)
        .map((variant) => results.get(variant))
        .find((result) => result?.kind === 'failed')
      return failure ?? applyRule(rule, text)
    })
  }

  async #scoreWithCache(
    recipe: Recipe,
    inputs: RuleInputs,
    texts: string[],
    mode: ScoringMode,
    orThrow: boolean,
  ): Promise<ScorerResult[]> {
    const item = encodeItemId({ ...recipe, difficulty: null }) // the difficulty is only a label
    const byRun = mode === 'hardened' && needsRun(recipe.task, inputs.entry)
    const keyOf = (text: string) => `${byRun ? 'run ' : ''}${item}\n${text}`
    const results = new Map(texts.map((text) => [text, this.#cache.get(keyOf(text))]))
    const rule = byRun ? undefined : this.#getPartialRule(item, recipe, inputs)
    for (const text of results.keys()) {
      if (rule === undefined || results.get(text) !== undefined) continue
      const score = await this.#budget.run(() => rule(text)) // a long one takes up to 10 ms
      if (score !== undefined) results.set(text, { kind: 'score', score })
    }
    const uncached = [...results].filter(([, result]) => !result).map(([text]) => text)
    if (uncached.length > 0) {
      const scored =
        (await this.#scoreWithFile(recipe, inputs, uncached)) ??
        (await this.#scoreInPython(recipe, inputs, uncached, byRun, orThrow))
      for (const [k, text] of uncached.entries()) {
        results.set(text, scored[k])
        if (scored[k] && scored[k].kind !== 'failed') this.#cache.set(keyOf(text), scored[k]) // a failure may not recur
      }
    }
    return texts.map((text) => results.get(text) ?? toScorerResult(undefined))
  }

  #getPartialRule(item: string, { task }: Recipe, { entry }: RuleInputs): PartialRule | undefined {
    const scorer = PARTIAL_SCORERS[task]
    if (!scorer) return undefined
    const rule = this.#partialRules.get(item) ?? scorer(entry)
    this.#partialRules.set(item, rule)
    return rule
  }

  /** Returns undefined if the task has no scorer beside it. */
  async #scoreWithFile(
    { task, engine: version }: Recipe,
    { entry, config }: RuleInputs,
    texts: string[],
  ): Promise<ScorerResult[] | undefined> {
    const custom = (await this.#engine.tasks())[task]?.custom
    if (!custom?.scorer || version !== this.#engine.versionOf(task)) return undefined // Python workers reject other code
    const spec: CustomScorerSpec = { task, file: custom.scorer, codeHash: custom.code_hash, entry, config }
    return Promise.all(texts.map((text) => this.#threadPool.score(spec, text)))
  }

  async #scoreInPython(
    recipe: Recipe,
    { entry }: RuleInputs,
    texts: string[],
    byRun: boolean,
    orThrow: boolean,
  ): Promise<ScorerResult[]> {
    const { task, config, seed, engine: version } = recipe
    const attributes = { 'rgs.task': task, 'rgs.answers': texts.length }
    const outcomes = await this.#tracing.span('score in Python', { kind: 'internal', attributes }, () =>
      byRun
        ? scoreByRun(this.#engine, recipe, entry, texts)
        : this.#engine.score(task, config, seed, entry, texts, version),
    )
    for (const outcome of outcomes) {
      if (outcome.kind === 'error' && outcome.code === 'engine_version_mismatch') unwrapOutcome(outcome)
      if (orThrow) throwIfUnavailable(outcome)
    }
    return outcomes.map(toScorerResult)
  }
}

function requireScore(result: ScorerResult | undefined): number {
  if (result?.kind === 'score') return result.score
  throw new InvalidAnswerError('the library raised an exception')
}

function toScorerResult(outcome: EngineOutcome | undefined): ScorerResult {
  switch (outcome?.kind) {
    case 'value':
      return { kind: 'score', score: Number(outcome.value) }
    case 'raised':
      return { kind: 'raised' }
    case 'lost':
      return { kind: 'failed', code: UNSCORED_CODES[outcome.reason], detail: outcome.detail }
    default:
      return { kind: 'failed', code: 'scorer_crashed', detail: outcome?.detail ?? 'the scorer returned no result' }
  }
}

function throwIfUnavailable(outcome: EngineOutcome): void {
  if (outcome.kind === 'lost' && outcome.reason === 'unavailable')
    throw new ServiceError('engine_unavailable', outcome.detail)
}
