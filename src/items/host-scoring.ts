/** Scores answers by the library itself, in the Python hosts: for the tasks whose rule is not to be had here. */
import { LRUCache } from 'lru-cache'
import type { Engine } from '../engine/engine.ts'
import type { Loss, Outcome } from '../engine/outcome.ts'
import { Fault } from '../faults.ts'
import { harden, readingsOf } from '../scorers/hardened/catalogue.ts'
import { type Entry, InvalidAnswer } from '../scorers/scorer.ts'
import type { Scoring } from '../scoring/verdicts.ts'
import { encodeItemId } from '../words/item-id.ts'
import type { Recipe } from '../words/recipe.ts'
import type { ScoringMode, UnscoredCode } from '../words/verdict.ts'
import { type ItemFacts, scoringBy } from './rule.ts'

const CODES: Record<Loss, UnscoredCode> = {
  timeout: 'scorer_timeout',
  crashed: 'scorer_crashed',
  out_of_memory: 'scorer_out_of_memory',
  unavailable: 'engine_unavailable',
}

const KNOWN_CHARS = 16 * 2 ** 20

export class HostScoring {
  readonly #facts: ItemFacts
  readonly #engine: Engine
  /** What the library said of an answer to an item: the same answers come again, and sympy takes up to seconds over one. */
  readonly #known = new LRUCache<string, Scoring>({ maxSize: KNOWN_CHARS, sizeCalculation: (_, key) => key.length })

  constructor(facts: ItemFacts, engine: Engine) {
    this.#facts = facts
    this.#engine = engine
  }

  /** One for each text, in order. Throws `engine_unavailable` only if `orThrow`. */
  async score(recipe: Recipe, texts: string[], mode: ScoringMode, orThrow: boolean): Promise<Scoring[]> {
    const { entry, config } = await this.#facts(recipe)
    if (mode === 'upstream') return this.#ask(recipe, entry, texts, orThrow)
    const readings = [...new Set(texts.flatMap(readingsOf))]
    const asked = await this.#ask(recipe, entry, readings, orThrow)
    const scorings = new Map(readings.map((reading, k) => [reading, asked[k]]))
    const rule = harden(recipe.task, { entry, config, upstream: (reading) => scoreOf(scorings.get(reading)) })
    return texts.map((text) => {
      const lost = readingsOf(text)
        .map((reading) => scorings.get(reading))
        .find((scoring) => scoring?.kind === 'failed')
      return lost ?? scoringBy(rule, text)
    })
  }

  async #ask(recipe: Recipe, entry: Entry, texts: string[], orThrow: boolean): Promise<Scoring[]> {
    const item = encodeItemId({ ...recipe, difficulty: null }) // which is a label
    const keyOf = (text: string) => `${item}\n${text}`
    const scorings = new Map(texts.map((text) => [text, this.#known.get(keyOf(text))]))
    const open = [...scorings].filter(([, scoring]) => !scoring).map(([text]) => text)
    if (open.length === 0) return texts.map((text) => scorings.get(text) ?? scoringOf(undefined))
    const outcomes = await this.#engine.score(recipe.task, recipe.config, recipe.seed, entry, open)
    if (orThrow) for (const outcome of outcomes) throwIfDown(outcome)
    for (const [k, text] of open.entries()) {
      const scoring = scoringOf(outcomes[k])
      scorings.set(text, scoring)
      if (scoring.kind !== 'failed') this.#known.set(keyOf(text), scoring) // what failed may go well the next time
    }
    return texts.map((text) => scorings.get(text) ?? scoringOf(undefined))
  }
}

function scoreOf(scoring: Scoring | undefined): number {
  if (scoring?.kind === 'score') return scoring.score
  throw new InvalidAnswer('the library raises')
}

function scoringOf(outcome: Outcome | undefined): Scoring {
  switch (outcome?.kind) {
    case 'value':
      return { kind: 'score', score: Number(outcome.value) }
    case 'raised':
      return { kind: 'raised' }
    case 'lost':
      return { kind: 'failed', code: CODES[outcome.reason], detail: outcome.detail }
    default:
      return { kind: 'failed', code: 'scorer_crashed', detail: outcome?.detail ?? 'no result came' }
  }
}

function throwIfDown(outcome: Outcome): void {
  if (outcome.kind === 'lost' && outcome.reason === 'unavailable') throw new Fault('engine_unavailable', outcome.detail)
}
