/** Scores answers by the library itself, in the Python hosts: for the tasks whose rule is not to be had here. */
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../contract/errors.ts'
import { encodeItemId } from '../contract/item-id.ts'
import type { Recipe } from '../contract/recipe.ts'
import type { ScoringMode, UnscoredCode } from '../contract/verdict.ts'
import type { Engine } from '../engine/engine.ts'
import type { EngineLossReason, EngineOutcome } from '../engine/outcome.ts'
import { createHardenedRule, listAnswerVariants } from '../scorers/hardened/hardened-scorers.ts'
import { type DatasetEntry, InvalidAnswerError } from '../scorers/scorer.ts'
import { applyRule, type LoadRuleInputs } from './scoring-rule.ts'
import type { ScorerResult } from './verdict.ts'

const UNSCORED_CODES: Record<EngineLossReason, UnscoredCode> = {
  timeout: 'scorer_timeout',
  crashed: 'scorer_crashed',
  out_of_memory: 'scorer_out_of_memory',
  unavailable: 'engine_unavailable',
}

const MAX_CACHED_CHARS = 16 * 2 ** 20

export class LibraryScorer {
  readonly #loadRuleInputs: LoadRuleInputs
  readonly #engine: Engine
  /** What the library said of an answer to an item: the same answers come again, and sympy takes up to seconds over one. */
  readonly #cache = new LRUCache<string, ScorerResult>({
    maxSize: MAX_CACHED_CHARS,
    sizeCalculation: (_, key) => key.length,
  })

  constructor(facts: LoadRuleInputs, engine: Engine) {
    this.#loadRuleInputs = facts
    this.#engine = engine
  }

  /** One for each text, in order. Throws `engine_unavailable` only if `orThrow`. */
  async score(recipe: Recipe, texts: string[], mode: ScoringMode, orThrow: boolean): Promise<ScorerResult[]> {
    const { entry, config } = await this.#loadRuleInputs(recipe)
    if (mode === 'upstream') return this.#scoreWithCache(recipe, entry, texts, orThrow)
    const readings = [...new Set(texts.flatMap(listAnswerVariants))]
    const asked = await this.#scoreWithCache(recipe, entry, readings, orThrow)
    const scorings = new Map(readings.map((reading, k) => [reading, asked[k]]))
    const rule = createHardenedRule(recipe.task, {
      entry,
      config,
      upstream: (reading) => requireScore(scorings.get(reading)),
    })
    return texts.map((text) => {
      const lost = listAnswerVariants(text)
        .map((reading) => scorings.get(reading))
        .find((scoring) => scoring?.kind === 'failed')
      return lost ?? applyRule(rule, text)
    })
  }

  async #scoreWithCache(
    recipe: Recipe,
    entry: DatasetEntry,
    texts: string[],
    orThrow: boolean,
  ): Promise<ScorerResult[]> {
    const item = encodeItemId({ ...recipe, difficulty: null }) // which is a label
    const keyOf = (text: string) => `${item}\n${text}`
    const scorings = new Map(texts.map((text) => [text, this.#cache.get(keyOf(text))]))
    const open = [...scorings].filter(([, scoring]) => !scoring).map(([text]) => text)
    if (open.length === 0) return texts.map((text) => scorings.get(text) ?? toScorerResult(undefined))
    const outcomes = await this.#engine.score(recipe.task, recipe.config, recipe.seed, entry, open)
    if (orThrow) for (const outcome of outcomes) throwIfUnavailable(outcome)
    for (const [k, text] of open.entries()) {
      const scoring = toScorerResult(outcomes[k])
      scorings.set(text, scoring)
      if (scoring.kind !== 'failed') this.#cache.set(keyOf(text), scoring) // what failed may go well the next time
    }
    return texts.map((text) => scorings.get(text) ?? toScorerResult(undefined))
  }
}

function requireScore(scoring: ScorerResult | undefined): number {
  if (scoring?.kind === 'score') return scoring.score
  throw new InvalidAnswerError('the library raises')
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
      return { kind: 'failed', code: 'scorer_crashed', detail: outcome?.detail ?? 'no result came' }
  }
}

function throwIfUnavailable(outcome: EngineOutcome): void {
  if (outcome.kind === 'lost' && outcome.reason === 'unavailable')
    throw new ServiceError('engine_unavailable', outcome.detail)
}
