/** Scores answers by the rules in TypeScript: short ones on the event loop, long ones on threads beside it. */
import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { encodeItemId } from '../contract/item-id.ts'
import type { Recipe } from '../contract/recipe.ts'
import type { ScoringMode } from '../contract/verdict.ts'
import type { ScorerThreadPool } from './scorer-thread-pool.ts'
import { applyRule, bindRule, type LoadRuleInputs, type RuleSpec, type ScoringRule } from './scoring-rule.ts'
import type { ScorerResult } from './verdict.ts'

/** Items whose rule this process remembers. */
const RULE_CACHE_SIZE = 4000
/** Up to here every rule takes less than a millisecond (`npm run verify -- scoring-cost --size 1024`). */
const MAX_INLINE_CHARS = 1024
/** Short answers are scored for so long before others have their turn. */
const YIELD_INTERVAL_MS = 5

/** A rule, and what another thread makes the same rule from. */
interface BoundRule {
  spec: RuleSpec
  rule: ScoringRule
}

export class NativeScorer {
  readonly #loadRuleInputs: LoadRuleInputs
  readonly #threadPool: ScorerThreadPool
  readonly #rules = new LRUCache<string, BoundRule>({ max: RULE_CACHE_SIZE })
  /** The same for recipes that are the same object, as they are for an item that comes again and again. */
  readonly #rulesByRecipe = { upstream: new WeakMap<Recipe, BoundRule>(), hardened: new WeakMap<Recipe, BoundRule>() }

  constructor(facts: LoadRuleInputs, threads: ScorerThreadPool) {
    this.#loadRuleInputs = facts
    this.#threadPool = threads
  }

  /** One for each text, in order. */
  async score(recipe: Recipe, texts: string[], mode: ScoringMode): Promise<ScorerResult[]> {
    const { spec: parts, rule } = this.#rulesByRecipe[mode].get(recipe) ?? (await this.#getOrCreateRule(recipe, mode))
    const elsewhere = texts.map((text) =>
      text.length > MAX_INLINE_CHARS ? this.#threadPool.score(parts, text) : undefined,
    )
    const scorings: ScorerResult[] = []
    let turn = performance.now()
    for (const [k, text] of texts.entries()) {
      const coming = elsewhere[k]
      scorings.push(coming ? await coming : applyRule(rule, text))
      if (performance.now() - turn < YIELD_INTERVAL_MS) continue
      await setImmediate()
      turn = performance.now()
    }
    return scorings
  }

  async #getOrCreateRule(recipe: Recipe, mode: ScoringMode): Promise<BoundRule> {
    const key = `${mode} ${encodeItemId(recipe)}`
    let bound = this.#rules.get(key)
    if (!bound) {
      const parts = { task: recipe.task, ...(await this.#loadRuleInputs(recipe)), mode }
      bound = { spec: parts, rule: bindRule(parts) }
      this.#rules.set(key, bound)
    }
    this.#rulesByRecipe[mode].set(recipe, bound)
    return bound
  }
}
