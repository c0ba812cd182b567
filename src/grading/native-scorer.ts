/** Scores answers with the rules in TypeScript: short answers on the event loop, long ones on scorer threads. */
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { ScoringMode } from '@reasoning-gym-server/contract/verdict'
import { LRUCache } from 'lru-cache'
import type { EventLoopBudget } from '../platform/event-loop-budget.ts'
import type { ScorerThreadPool } from './scorer-thread-pool.ts'
import {
  applyRule,
  bindMode,
  bindUpstreamRule,
  type LoadRuleInputs,
  type RuleSpec,
  type ScoringRule,
} from './scoring-rule.ts'
import type { ScorerResult } from './verdict.ts'

/** The number of items whose rule is cached. */
const RULE_CACHE_SIZE = 4000
/** Up to this length every rule takes less than a millisecond (`npm run verify -- scoring-cost --size 1024`). */
const MAX_INLINE_CHARS = 1024

/** A rule, and the specification from which another thread creates the same rule. */
interface BoundRule {
  spec: RuleSpec
  rule: ScoringRule
  /** The same as `rule` in upstream mode. */
  upstream: ScoringRule
}

export class NativeScorer {
  readonly #loadRuleInputs: LoadRuleInputs
  readonly #threadPool: ScorerThreadPool
  readonly #budget: EventLoopBudget
  readonly #rules = new LRUCache<string, BoundRule>({ max: RULE_CACHE_SIZE })
  /** The same rules by recipe object: repeated requests for an item share one object. */
  readonly #rulesByRecipe = { upstream: new WeakMap<Recipe, BoundRule>(), hardened: new WeakMap<Recipe, BoundRule>() }

  constructor(loadRuleInputs: LoadRuleInputs, threadPool: ScorerThreadPool, budget: EventLoopBudget) {
    this.#loadRuleInputs = loadRuleInputs
    this.#threadPool = threadPool
    this.#budget = budget
  }

  /** Returns one result for each text, in order. */
  async score(recipe: Recipe, texts: string[], mode: ScoringMode): Promise<ScorerResult[]> {
    const { spec, rule } = this.#rulesByRecipe[mode].get(recipe) ?? (await this.#getOrCreateRule(recipe, mode))
    const threadResults = texts.map((text) =>
      text.length > MAX_INLINE_CHARS ? this.#threadPool.score(spec, text) : undefined,
    )
    const results: ScorerResult[] = []
    for (const [k, text] of texts.entries()) {
      const result = threadResults[k] ?? this.#budget.run(() => applyRule(rule, text))
      results.push(result instanceof Promise ? await result : result) // most are there at once, and an await costs as much as a short rule
    }
    return results
  }

  /** The results of short texts at once; undefined if this process has not lately scored the item in any mode. */
  scoreCached(recipe: Recipe, texts: readonly string[], mode: ScoringMode): ScorerResult[] | undefined {
    const rule = this.#getCachedRule(recipe, mode)
    return rule && texts.map((text) => applyRule(rule, text))
  }

  /** A rule that is made from that of the other mode is not cached: it would displace those that groups need. */
  #getCachedRule(recipe: Recipe, mode: ScoringMode): ScoringRule | undefined {
    const id = encodeItemId(recipe)
    const cached = this.#rules.get(`${mode} ${id}`)
    if (cached) return cached.rule
    const other = this.#rules.get(`${mode === 'upstream' ? 'hardened' : 'upstream'} ${id}`)
    return other && bindMode(other.upstream, other.spec, mode)
  }

  async #getOrCreateRule(recipe: Recipe, mode: ScoringMode): Promise<BoundRule> {
    const key = `${mode} ${encodeItemId(recipe)}`
    let bound = this.#rules.get(key)
    if (!bound) {
      const spec = { task: recipe.task, ...(await this.#loadRuleInputs(recipe)), mode }
      const upstream = bindUpstreamRule(spec)
      bound = { spec, rule: bindMode(upstream, spec, mode), upstream }
      this.#rules.set(key, bound)
    }
    this.#rulesByRecipe[mode].set(recipe, bound)
    return bound
  }
}
