/**
 * How a duel stands after each sample, and its result: which model is better, how certain that is, and by how much. The
 * test goes over the items in order, up to the first incomplete one, so the state depends only on the scores, not on the
 * order in which completions arrived.
 */
import type { DuelResult } from '@reasoning-gym-server/contract/duel'
import { isActive } from '@reasoning-gym-server/contract/generation-job'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { LRUCache } from 'lru-cache'
import { meanOrNull } from '../../../grading/statistics.ts'
import { type EvalParts, findGuessFloor, type SampledItem } from '../job-items.ts'
import { DUEL_SIDES, type DuelSpec, type JobOfKind } from '../records.ts'
import { countFailures, type FailureCause } from '../samples/failure-reasons.ts'
import { listFailureCauses, StoredSampleVerdict } from '../samples/output.ts'
import type { SampleRepository } from '../samples/repository.ts'
import { streamVerdicts } from '../samples/stream.ts'
import { estimateLift } from '../statistics/means.ts'
import { SequentialTest } from '../statistics/sequential-test.ts'
import { warnOfOmissions } from './eval-result.ts'

interface ScoredPair {
  task: string
  a: number
  b: number
  floor: number
}

/** Aggregates the samples of a duel: its final result, or the current state while it is active. */
export async function aggregateDuel(
  job: JobOfKind<'duel'>,
  { openItems, samples, cards }: EvalParts,
): Promise<DuelResult> {
  const { items, indexOf } = await openItems(job).list()
  const sampled = items.map(({ id }): SampledItem => {
    const { task, difficulty } = decodeItemId(id)
    return { id, task, difficulty, guessFloor: findGuessFloor(cards, id, job.spec), verdicts: [] }
  })
  for await (const [sample, verdict] of streamVerdicts(samples, job)) sampled[indexOf(sample)]?.verdicts.push(verdict)
  return buildDuelResult(job.spec, sampled, isActive(job.status))
}

/** Builds the result. With `isOngoing`, the duel is still running and the result is its current state. */
function buildDuelResult(spec: DuelSpec, items: readonly SampledItem[], isOngoing: boolean): DuelResult {
  const tally = new DuelTally(spec)
  const pairs: ScoredPair[] = []
  const causes: FailureCause[] = []
  for (const { task, guessFloor, verdicts } of items) {
    const pair = toDuelPair(verdicts)
    if (!pair || tally.test.decision) break
    tally.add(pair)
    const [{ score: a }, { score: b }] = pair
    if (a !== null && b !== null) pairs.push({ task, a, b, floor: guessFloor ?? 0 })
    causes.push(...pair.flatMap(listFailureCauses))
  }
  const { test } = tally
  const ended_by = getEndedBy(tally, spec, isOngoing)
  const skipped = tally.items - pairs.length
  return {
    verdict: test.decision === undefined || test.decision === 'equivalent' ? 'no_difference_found' : test.decision,
    ended_by,
    ...summarize(pairs),
    confidence_sequence: pairs.length === 0 ? null : test.computeInterval(),
    e_value: test.eValue,
    p: test.pValue,
    skipped,
    failures: countFailures(causes),
    tasks: Object.fromEntries(
      [...Map.groupBy(pairs, ({ task }) => task)]
        .toSorted(([x], [y]) => (x < y ? -1 : 1))
        .map(([task, some]) => [task, summarize(some)]),
    ),
    warnings: [
      ...(skipped === 0 ? [] : [`${skipped} items have no score of both models and are left out`]),
      ...warnOfOmissions(items),
    ],
    repeat: buildRepeat(spec),
  }
}

function getEndedBy({ test, items }: DuelTally, spec: DuelSpec, isOngoing: boolean): DuelResult['ended_by'] {
  if (test.decision) return test.decision === 'equivalent' ? 'equivalence' : 'winner'
  if (items >= spec.max_items) return 'max_items'
  return isOngoing ? null : 'interruption'
}

function summarize(pairs: readonly ScoredPair[]) {
  const floors = pairs.map(({ floor }) => floor)
  return {
    items: pairs.length,
    a: summarizeSide(
      pairs.map(({ a }) => a),
      floors,
    ),
    b: summarizeSide(
      pairs.map(({ b }) => b),
      floors,
    ),
    difference: meanOrNull(pairs.map(({ a, b }) => a - b)),
  }
}

function summarizeSide(scores: number[], floors: number[]): DuelResult['a'] {
  const mean = meanOrNull(scores)
  const { lift } = estimateLift(mean === null ? null : { mean, stderr: null, confidence_95: null }, floors)
  return { mean_score: mean, lift }
}

function buildRepeat(spec: DuelSpec) {
  const { model, opponent, suite, max_items, alpha, smallest_difference, grading_rules, prompt, engine, server } = spec
  return {
    suite,
    max_items,
    alpha,
    smallest_difference,
    engine: { library: 'reasoning-gym', version: engine },
    server,
    a: { name: model.name, base_url: model.base_url },
    b: { name: opponent.name, base_url: opponent.base_url },
    sampling: model.params,
    ...grading_rules,
    ...prompt,
  }
}

const ITEMS_PER_READ = 32
/** Limit on cached duels, higher than the number that can be active. */
const MAX_TALLIES = 1000

/** Number of items without a score of both models after which a duel fails, if it has no other items. */
export const MAX_ITEMS_WITHOUT_PAIR = 32

/** `without_pairs`: no item has a score of both models, so the duel cannot come to an end. */
type DuelStatus = 'open' | 'decided' | 'without_pairs'

type DuelPair = [a: StoredSampleVerdict, b: StoredSampleVerdict]

class DuelTally {
  readonly test: SequentialTest
  /** Items processed so far, with and without scores. */
  items = 0
  /** Items with scores of both models. */
  pairs = 0

  constructor({ alpha, smallest_difference }: Pick<DuelSpec, 'alpha' | 'smallest_difference'>) {
    this.test = new SequentialTest({ alpha, smallestDifference: smallest_difference })
  }

  /** Adds the next item. An item without a score on both sides is counted but not tested. */
  add([a, b]: DuelPair): void {
    this.items++
    if (a.score === null || b.score === null) return
    this.pairs++
    this.test.add(a.score - b.score)
  }
}

/** Returns undefined until both models have answered. */
function toDuelPair(verdicts: readonly (StoredSampleVerdict | null | undefined)[]): DuelPair | undefined {
  const [a, b] = verdicts
  return a && b ? [a, b] : undefined
}

interface WatchedDuel {
  tally: DuelTally
  /** Update in progress; the next update waits for it. */
  update: Promise<void>
}

/** Keeps the tallies of duels in this process, so that each sample is read once. */
export class DuelReferee {
  readonly #samples: SampleRepository
  readonly #duels = new LRUCache<string, WatchedDuel>({ max: MAX_TALLIES })

  constructor(samples: SampleRepository) {
    this.#samples = samples
  }

  async evaluate(job: JobOfKind<'duel'>): Promise<DuelStatus> {
    const duel = this.#getOrCreate(job)
    duel.update = duel.update.catch(() => {}).then(() => this.#advance(job, duel.tally))
    await duel.update
    const { test, items, pairs } = duel.tally
    if (test.decision !== undefined) return 'decided'
    return pairs === 0 && items >= MAX_ITEMS_WITHOUT_PAIR ? 'without_pairs' : 'open'
  }

  /** Discards the cached state of a resumed duel, because samples without a score were retried. */
  #getOrCreate({ id, resumed_at, spec }: JobOfKind<'duel'>): WatchedDuel {
    const key = `${id}/${resumed_at ?? ''}`
    const duel = this.#duels.get(key) ?? { tally: new DuelTally(spec), update: Promise.resolve() }
    this.#duels.set(key, duel)
    return duel
  }

  async #advance({ id, spec }: JobOfKind<'duel'>, tally: DuelTally): Promise<void> {
    while (tally.items < spec.max_items && !tally.test.decision) {
      const from = tally.items
      const to = Math.min(from + ITEMS_PER_READ, spec.max_items)
      const verdicts = await this.#samples.listVerdicts(StoredSampleVerdict, id, from * DUEL_SIDES, to * DUEL_SIDES)
      for (let k = 0; k < verdicts.length; k += DUEL_SIDES) {
        const pair = toDuelPair(verdicts.slice(k, k + DUEL_SIDES))
        if (!pair) return
        tally.add(pair)
      }
    }
  }
}
