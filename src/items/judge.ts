/** From completions to verdicts: reads them, asks a scorer once for each text that differs, puts the verdicts together. */
import { defaultsOf, type Engine } from '../engine/engine.ts'
import { Fault } from '../faults.ts'
import { SCORERS } from '../scorers/catalogue.ts'
import { length } from '../scorers/python/text.ts'
import { type Reading, readCompletion, readVisible } from '../scoring/completion.ts'
import { finalText } from '../scoring/messages.ts'
import { faulty, readingsOf, type Scoring, unscored, verdictOf } from '../scoring/verdicts.ts'
import type { TaskFigures } from '../store/task-figures.ts'
import type { Recipe } from '../words/recipe.ts'
import type { Message } from '../words/rollout.ts'
import type { Extraction, ScoringMode, Verdict } from '../words/verdict.ts'
import { HostScoring } from './host-scoring.ts'
import type { Items } from './items.ts'
import { NativeScoring } from './native-scoring.ts'
import type { ScoringThreads } from './scoring-threads.ts'

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

/** How one verdict came about. `readings`: bare, then in tags; none where there was no answer. */
export interface Trace {
  rollout: number
  text: string | undefined
  extraction: Extraction
  readings: Scoring[]
  verdict: Verdict
}

interface Parts {
  engine: Engine
  items: Items
  figures: TaskFigures
  threads: ScoringThreads
  answerMaxChars: number
}

export class Judge {
  readonly #parts: Parts
  readonly #native: NativeScoring
  readonly #hosts: HostScoring

  constructor(parts: Parts) {
    const { engine, items, threads } = parts
    const facts = async (recipe: Recipe) => {
      const [entry, known] = await Promise.all([items.entry(recipe), engine.tasks()])
      return { entry, config: { ...defaultsOf(known[recipe.task]), ...recipe.config } }
    }
    this.#parts = parts
    this.#native = new NativeScoring(facts, threads)
    this.#hosts = new HostScoring(facts, engine)
  }

  /**
   * One verdict for each, in order. Throws `engine_unavailable` only if `orThrow`: then a queued job is tried again.
   * `onTrace` hears how each came about.
   */
  async verdicts(
    recipe: Recipe,
    given: Given[],
    rules: ReadingRules,
    orThrow = false,
    onTrace?: (trace: Trace) => void,
  ): Promise<Verdict[]> {
    const read = given.map((one) => this.#read(one, rules))
    const texts = new Set<string>()
    for (const { readings } of read) for (const text of readings) texts.add(text)
    const scorings = await this.#scorings(recipe, [...texts], rules.scoring, orThrow)
    let [scored, sum] = [0, 0]
    const verdicts = read.map(({ answer, readings, verdict }, rollout) => {
      const found = readings.map((text) => scorings.get(text) ?? NO_SCORING)
      const made = verdict ?? verdictOf(answer, found)
      if (onTrace) {
        const one = given[rollout]
        onTrace({ rollout, text: one && textOf(one), extraction: rules.extraction, readings: found, verdict: made })
      }
      if (made.status === 'scored') {
        scored++
        sum += made.score
      }
      return made
    })
    this.#parts.figures.scored(recipe.task, scored, sum)
    return verdicts
  }

  #read(given: Given, { extraction, dual_format }: ReadingRules): Read {
    if (given.kind === 'nothing') return decided(unscored('generation_failed', given.detail))
    const reading = readGiven(given, extraction)
    if (reading.kind === 'fault') return decided(faulty(reading.fault))
    const { answer } = reading
    const most = this.#parts.answerMaxChars
    if (answer.length > most && length(answer) > most) return decided(faulty('answer_too_long'))
    return { answer, readings: readingsOf(answer, dual_format) }
  }

  async #scorings(
    recipe: Recipe,
    texts: string[],
    scoring: ReadingRules['scoring'],
    orThrow: boolean,
  ): Promise<Map<string, Scoring>> {
    if (texts.length === 0) return new Map()
    try {
      const started = performance.now()
      const scorings = SCORERS[recipe.task]
        ? await this.#native.score(recipe, texts, scoring)
        : await this.#hosts.score(recipe, texts, scoring, orThrow)
      this.#parts.figures.asked(recipe.task, texts.length, performance.now() - started)
      return new Map(texts.map((text, k) => [text, scorings[k] ?? NO_SCORING]))
    } catch (error) {
      if (orThrow || !(error instanceof Fault) || error.status !== 503) throw error
      return new Map(texts.map((text) => [text, { kind: 'failed', code: 'engine_unavailable', detail: error.message }]))
    }
  }
}

/** An answer and the texts that are scored for it, or the verdict where there is nothing to score. */
interface Read {
  answer: string
  readings: string[]
  verdict?: Verdict
}

function decided(verdict: Verdict): Read {
  return { answer: '', readings: [], verdict }
}

const NO_SCORING: Scoring = { kind: 'failed', code: 'engine_unavailable', detail: 'no result came' }

function textOf(given: Given): string | undefined {
  switch (given.kind) {
    case 'completion':
      return given.completion
    case 'answer':
      return given.answer
    case 'messages':
      return finalText(given.messages)?.text
    case 'nothing':
      return undefined
  }
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
