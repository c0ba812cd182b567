/**
 * Measures a task for its validation: the truth table of its verifier, whether items and scores are the same in other processes
 * and implementations, and whether questions give their answers away. What task cards hold is not measured again.
 */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Config } from '@reasoning-gym-server/contract/recipe'
import { isCorrect } from '@reasoning-gym-server/contract/verdict'
import { getCorrectAnswer } from '@reasoning-gym-server/mock-model/answers'
import { isAnswerable } from '@reasoning-gym-server/scorers/corrections/corrections'
import type { DatasetPosition, Engine, GeneratedItem, MakeScoredItems, ScoredItem } from '../engine.ts'
import type { MeasuredRung, MeasuredTask } from './figures.ts'
import { type LabeledAnswer, labelAnswers } from './labeled-answers.ts'
import type { AnswerKind, TruthCounts } from './truth-table.ts'

export interface MeasureDeps {
  engine: Pick<Engine, 'canonicalizeConfig'>
  makeItems: MakeScoredItems
  /** By which the figures of a rung are found. */
  hashConfig: (config: Config) => string
  /** An engine with other string hashes, which decide the order of sets. */
  otherEngine: Pick<Engine, 'generateItems' | 'score'>
  /** Told of each answer whose verdict contradicts its label. */
  onWrongVerdict?: (scoring: 'upstream' | 'hardened', answer: LabeledAnswer, reference: string) => void
}

export interface SampleSizes {
  /** Items in all; at least `perConfig` of each config. */
  items: number
  perConfig: number
  answers: Record<AnswerKind, number>
}

export const SAMPLE_SIZES: SampleSizes = {
  items: 40,
  perConfig: 3,
  answers: { reference: 1, reworded: 1, mutated: 3, unsolved: 2 },
}

/** sympy scores a thousand times slower than this process. */
const SYMBOLIC_SAMPLE_SIZES: SampleSizes = { ...SAMPLE_SIZES, items: 12, perConfig: 1 }
/** Distinct from those of the task cards and of training. */
const FIRST_SEED = 600_000_000
/** Tasks that make a list when they are built know only its indexes; the others take any seed. */
const INDEXED_TASKS: ReadonlySet<string> = new Set(['acre', 'gsm_symbolic', 'list_functions', 'word_ladder'])
/** A shorter answer is in a question by chance. */
const MIN_LEAK_CHARS = 4

/** `configs`: of the defaults and of each rung. */
export async function measureTask(
  deps: MeasureDeps,
  task: string,
  configs: readonly Config[],
  sizes = task.endsWith('_integration') ? SYMBOLIC_SAMPLE_SIZES : SAMPLE_SIZES,
): Promise<MeasuredTask> {
  const tally = new ScoreTally()
  const rungs: MeasuredRung[] = []
  const perConfig = Math.max(sizes.perConfig, Math.ceil(sizes.items / configs.length))
  for (const config of configs) {
    const canonical = await deps.engine.canonicalizeConfig(task, config)
    const places = Array.from(
      { length: perConfig },
      (_, k): DatasetPosition => (INDEXED_TASKS.has(task) ? [FIRST_SEED, k] : [FIRST_SEED + k, 0]),
    )
    const made = await deps.makeItems(task, canonical, places)
    const again = await deps.otherEngine.generateItems(task, canonical, places.toReversed())
    const others = again
      .toReversed()
      .flatMap((outcome) => (outcome.kind === 'value' ? [outcome.value as GeneratedItem] : [])) // as the engine makes them
    rungs.push({
      config: deps.hashConfig(config),
      items: made.length,
      different: made.filter((item, k) => !isSameItem(item, others[k])).length,
      answered: 0,
      right_upstream: 0,
      right_hardened: 0,
      ...describeItems(task, made),
    })
    const rung = rungs.at(-1) as MeasuredRung // was just added
    for (const [k, item] of made.entries()) {
      if (!isAnswerable(task, item.entry)) continue
      const neighbor = made[(k + 1) % made.length]
      const other =
        neighbor === undefined ? undefined : getCorrectAnswer({ task, ...neighbor.entry, answer: neighbor.rightKey })
      const answers = labelAnswers({ task, item, other }, sizes.answers, rungs.length + k)
      if (answers.length === 0) continue
      rung.answered++
      await scoreItem(deps, { task, config: canonical, seed: places[k]?.[0] ?? 0 }, item, answers, tally, rung)
    }
  }
  return { ...tally.summarize(), rungs }
}

function isSameItem({ question, entry }: GeneratedItem, again: GeneratedItem | undefined): boolean {
  return again?.question === question && isDeepStrictEqual(again.entry, entry)
}

function describeItems(task: string, items: readonly GeneratedItem[]): Pick<MeasuredRung, 'leaks' | 'size' | 'digest'> {
  const answers = items.map(({ entry }) => getCorrectAnswer({ task, ...entry }) ?? '')
  const isLeak = (answer: string, k: number) =>
    answer.length >= MIN_LEAK_CHARS && (items[k]?.question.includes(answer) ?? false)
  const chars = items.reduce((sum, { question }, k) => sum + question.length + (answers[k]?.length ?? 0), 0)
  const texts = JSON.stringify(items.map(({ question, entry }) => [question, entry.answer]))
  return {
    leaks: answers.filter(isLeak).length,
    size: Math.round(chars / Math.max(1, items.length)),
    digest: createHash('sha256').update(texts).digest('hex').slice(0, 8),
  }
}

interface ItemPlace {
  task: string
  config: Config
  seed: number
}

async function scoreItem(
  { otherEngine, onWrongVerdict }: MeasureDeps,
  { task, config, seed }: ItemPlace,
  item: ScoredItem,
  answers: readonly LabeledAnswer[],
  tally: ScoreTally,
  rung: MeasuredRung,
): Promise<void> {
  const texts = answers.map(({ text }) => text)
  const startedAt = performance.now()
  const scores = { upstream: await item.scoreUpstream(texts), hardened: await item.score(texts) }
  const ms = performance.now() - startedAt
  const reversed = texts.toReversed()
  const again = {
    upstream: (await item.scoreUpstream(reversed)).toReversed(),
    hardened: (await item.score(reversed)).toReversed(),
  }
  const elsewhere = await otherEngine.score(task, config, seed, item.entry, texts)
  for (const [k, answer] of answers.entries()) {
    const [upstream = Number.NaN, hardened = Number.NaN] = [scores.upstream[k], scores.hardened[k]]
    const outcome = elsewhere[k]
    const other = outcome?.kind === 'value' ? Math.max(0, Number(outcome.value)) : 0
    const isUnstable = again.upstream[k] !== upstream || again.hardened[k] !== hardened
    tally.add(
      answer.kind,
      { upstream, hardened },
      { isUnstable, isUnportable: Math.abs(other - Math.max(0, upstream)) > 1e-9, ms: ms / answers.length },
    )
    for (const scoring of ['upstream', 'hardened'] as const) {
      const isRight = answer.kind === 'reference' || answer.kind === 'reworded'
      const score = scoring === 'upstream' ? upstream : hardened
      if (answer.kind === 'reference' && isCorrect(score)) rung[`right_${scoring}`]++
      if (isCorrect(score) !== isRight) onWrongVerdict?.(scoring, answer, texts[0] ?? '')
    }
  }
}

class ScoreTally {
  readonly #truth: TruthCounts = {
    reference: { answers: 0, upstream: 0, hardened: 0 },
    reworded: { answers: 0, upstream: 0, hardened: 0 },
    mutated: { answers: 0, upstream: 0, hardened: 0 },
    unsolved: { answers: 0, upstream: 0, hardened: 0 },
  }
  readonly #sums = { answers: 0, malformed: 0, unstable: 0, unportable: 0, upstream: 0, hardened: 0, ms: 0 }

  add(
    kind: AnswerKind,
    { upstream, hardened }: { upstream: number; hardened: number },
    { isUnstable, isUnportable, ms }: { isUnstable: boolean; isUnportable: boolean; ms: number },
  ): void {
    const counts = this.#truth[kind]
    counts.answers++
    if (isCorrect(upstream)) counts.upstream++
    if (isCorrect(hardened)) counts.hardened++
    this.#sums.answers++
    if (![upstream, hardened].every((score) => score >= 0 && score <= 1)) this.#sums.malformed++
    if (isUnstable) this.#sums.unstable++
    if (isUnportable) this.#sums.unportable++
    this.#sums.ms += ms
    if (kind !== 'unsolved') return
    this.#sums.upstream += upstream
    this.#sums.hardened += hardened
  }

  summarize(): Omit<MeasuredTask, 'rungs'> {
    const { upstream, hardened, ms, ...counts } = this.#sums
    const mean = (sum: number, count: number) => Number((sum / Math.max(1, count)).toFixed(3))
    const { answers } = this.#truth.unsolved
    return {
      truth: this.#truth,
      scores: {
        ...counts,
        unsolved: { upstream: mean(upstream, answers), hardened: mean(hardened, answers) },
        ms: mean(ms, counts.answers),
      },
    }
  }
}
