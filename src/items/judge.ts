/** From completions to verdicts: reads them, asks a scorer once for each text that differs, puts the verdicts together. */
import { LRUCache } from 'lru-cache'
import { defaultsOf, type Engine } from '../engine/engine.ts'
import type { Loss, Outcome } from '../engine/outcome.ts'
import { Fault } from '../faults.ts'
import { SCORERS } from '../scorers/catalogue.ts'
import { harden } from '../scorers/hardened/catalogue.ts'
import { length } from '../scorers/python/text.ts'
import { InvalidAnswer } from '../scorers/scorer.ts'
import { type Reading, readCompletion, readVisible } from '../scoring/completion.ts'
import { finalText } from '../scoring/messages.ts'
import { faulty, readingsOf, type Scoring, unscored, verdictOf } from '../scoring/verdicts.ts'
import type { TaskFigures } from '../store/task-figures.ts'
import { encodeItemId } from '../words/item-id.ts'
import type { Recipe } from '../words/recipe.ts'
import type { Message } from '../words/rollout.ts'
import type { Extraction, ScoringMode, UnscoredCode, Verdict } from '../words/verdict.ts'
import type { Items } from './items.ts'

/** Items whose rule this process remembers. */
const REMEMBERED = 4000

/** What a model gave: text, a conversation, the bare answer, or nothing (the client says that generation failed). */
export type Given =
  | { kind: 'completion'; completion: string }
  | { kind: 'messages'; messages: Message[] }
  | { kind: 'answer'; answer: string }
  | { kind: 'nothing'; detail: string }

export interface ReadingRules {
  extraction: Extraction
  dual_format: boolean
  scoring: ScoringMode
}

interface Parts {
  engine: Engine
  items: Items
  figures: TaskFigures
  answerMaxChars: number
}

export class Judge {
  readonly #parts: Parts
  readonly #rules = new LRUCache<string, BoundRule>({ max: REMEMBERED })

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** One verdict for each, in order. Throws `engine_unavailable` only if `orThrow`: then a queued job is tried again. */
  async verdicts(recipe: Recipe, given: Given[], rules: ReadingRules, orThrow = false): Promise<Verdict[]> {
    const read = given.map((one) => this.#read(one, rules.extraction))
    const texts = new Set<string>()
    for (const reading of read) {
      if (reading.kind === 'answer') for (const text of readingsOf(reading.answer, rules.dual_format)) texts.add(text)
    }
    const scorings = await this.#scorings(recipe, [...texts], rules.scoring, orThrow)
    const verdicts = read.map((reading) => {
      if (reading.kind === 'verdict') return reading.verdict
      const readings = readingsOf(reading.answer, rules.dual_format).map((text) => scorings.get(text) ?? NO_SCORING)
      return verdictOf(reading.answer, readings)
    })
    const scored = verdicts.filter((verdict) => verdict.status === 'scored')
    this.#parts.figures.scored(
      recipe.task,
      scored.length,
      scored.reduce((sum, { score }) => sum + score, 0),
    )
    return verdicts
  }

  #read(
    given: Given,
    extraction: Extraction,
  ): { kind: 'answer'; answer: string } | { kind: 'verdict'; verdict: Verdict } {
    if (given.kind === 'nothing') return { kind: 'verdict', verdict: unscored('generation_failed', given.detail) }
    const reading = readGiven(given, extraction)
    if (reading.kind === 'fault') return { kind: 'verdict', verdict: faulty(reading.fault) }
    const { answer } = reading
    const most = this.#parts.answerMaxChars
    if (answer.length > most && length(answer) > most) return { kind: 'verdict', verdict: faulty('answer_too_long') }
    return { kind: 'answer', answer }
  }

  /** The task's rule in TypeScript, bound to the item; undefined where the hosts score. */
  async #nativeRule(recipe: Recipe, scoring: ReadingRules['scoring']): Promise<BoundRule | undefined> {
    const read = SCORERS[recipe.task]
    if (!read) return undefined
    const id = encodeItemId(recipe)
    const key = `${scoring} ${id}`
    let bound = this.#rules.get(key)
    if (!bound) {
      const [entry, facts] = await Promise.all([this.#parts.items.entry(id, recipe), this.#parts.engine.tasks()])
      const rule = read(entry)
      const config = { ...defaultsOf(facts[recipe.task]), ...recipe.config }
      const upstream = (answer: string) => rule(answer, config)
      bound = scoring === 'hardened' ? harden(recipe.task, { entry, config, upstream }) : upstream
      this.#rules.set(key, bound)
    }
    return bound
  }

  async #askHosts(recipe: Recipe, texts: string[], orThrow: boolean): Promise<Scoring[]> {
    const entry = await this.#parts.items.entry(encodeItemId(recipe), recipe)
    const outcomes = await this.#parts.engine.score(recipe.task, recipe.config, recipe.seed, entry, texts)
    if (orThrow) for (const outcome of outcomes) throwIfDown(outcome)
    return outcomes.map(scoringOf)
  }

  async #scorings(
    recipe: Recipe,
    texts: string[],
    scoring: ReadingRules['scoring'],
    orThrow: boolean,
  ): Promise<Map<string, Scoring>> {
    if (texts.length === 0) return new Map()
    try {
      const rule = await this.#nativeRule(recipe, scoring)
      const started = performance.now()
      const scorings = rule
        ? texts.map((text) => scoreNatively(rule, text))
        : await this.#askHosts(recipe, texts, orThrow)
      this.#parts.figures.asked(recipe.task, texts.length, performance.now() - started)
      return new Map(texts.map((text, k) => [text, scorings[k] ?? NO_SCORING]))
    } catch (error) {
      if (orThrow || !(error instanceof Fault) || error.status !== 503) throw error
      return new Map(texts.map((text) => [text, { kind: 'failed', code: 'engine_unavailable', detail: error.message }]))
    }
  }
}

/** A native rule with its item's entry and config in it. */
type BoundRule = (answer: string) => number

function scoreNatively(rule: BoundRule, text: string): Scoring {
  try {
    return { kind: 'score', score: rule(text) }
  } catch (error) {
    if (error instanceof InvalidAnswer) return { kind: 'raised' }
    return { kind: 'failed', code: 'scorer_crashed', detail: error instanceof Error ? error.message : String(error) }
  }
}

const NO_SCORING: Scoring = { kind: 'failed', code: 'engine_unavailable', detail: 'no result came' }

const CODES: Record<Loss, UnscoredCode> = {
  timeout: 'scorer_timeout',
  crashed: 'scorer_crashed',
  out_of_memory: 'scorer_out_of_memory',
  unavailable: 'engine_unavailable',
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

function readGiven(given: Exclude<Given, { kind: 'nothing' }>, extraction: Extraction): Reading {
  switch (given.kind) {
    case 'answer':
      return given
    case 'completion':
      return readCompletion(given.completion, extraction)
    case 'messages': {
      const final = finalText(given.messages)
      if (!final) return { kind: 'fault', fault: 'no_answer' }
      if (extraction === 'bare' || !final.thinkingApart) return readCompletion(final.text, extraction)
      return readVisible({ text: final.text, cut: false }, extraction)
    }
  }
}
