/** Scores answers by the rules in TypeScript: short ones on the event loop, long ones on threads beside it. */
import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Scoring } from '../scoring/verdicts.ts'
import { encodeItemId } from '../words/item-id.ts'
import type { Recipe } from '../words/recipe.ts'
import type { ScoringMode } from '../words/verdict.ts'
import { bindRule, type ItemFacts, type Rule, type RuleParts, scoringBy } from './rule.ts'
import type { ScoringThreads } from './scoring-threads.ts'

/** Items whose rule this process remembers. */
const REMEMBERED = 4000
/** Up to here every rule takes less than a millisecond (`npm run cost -- --size 1024`). */
const LOOP_CHARS = 1024
/** Short answers are scored for so long before others have their turn. */
const TURN_MS = 5

/** A rule, and what another thread makes the same rule from. */
interface BoundRule {
  parts: RuleParts
  rule: Rule
}

export class NativeScoring {
  readonly #facts: ItemFacts
  readonly #threads: ScoringThreads
  readonly #rules = new LRUCache<string, BoundRule>({ max: REMEMBERED })
  /** The same for recipes that are the same object, as they are for an item that comes again and again. */
  readonly #known = { upstream: new WeakMap<Recipe, BoundRule>(), hardened: new WeakMap<Recipe, BoundRule>() }

  constructor(facts: ItemFacts, threads: ScoringThreads) {
    this.#facts = facts
    this.#threads = threads
  }

  /** One for each text, in order. */
  async score(recipe: Recipe, texts: string[], mode: ScoringMode): Promise<Scoring[]> {
    const { parts, rule } = this.#known[mode].get(recipe) ?? (await this.#bound(recipe, mode))
    const elsewhere = texts.map((text) => (text.length > LOOP_CHARS ? this.#threads.score(parts, text) : undefined))
    const scorings: Scoring[] = []
    let turn = performance.now()
    for (const [k, text] of texts.entries()) {
      const coming = elsewhere[k]
      scorings.push(coming ? await coming : scoringBy(rule, text))
      if (performance.now() - turn < TURN_MS) continue
      await setImmediate()
      turn = performance.now()
    }
    return scorings
  }

  async #bound(recipe: Recipe, mode: ScoringMode): Promise<BoundRule> {
    const key = `${mode} ${encodeItemId(recipe)}`
    let bound = this.#rules.get(key)
    if (!bound) {
      const parts = { task: recipe.task, ...(await this.#facts(recipe)), mode }
      bound = { parts, rule: bindRule(parts) }
      this.#rules.set(key, bound)
    }
    this.#known[mode].set(recipe, bound)
    return bound
  }
}
