/** Aggregates the samples of a duel into its result: which model is better, how certain that is, and by how much. */
import type { DuelResult } from '@reasoning-gym-server/contract/duel'
import { isActive } from '@reasoning-gym-server/contract/generation-job'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { meanOrNull } from '../../../grading/statistics.ts'
import type { TaskCards } from '../../tasks/task-cards.ts'
import { findGuessFloor, type OpenJobItems, type SampledItem } from '../job-items.ts'
import type { DuelSpec, JobOfKind } from '../records.ts'
import { countFailures, type FailureCause } from '../samples/failures.ts'
import { listFailureCauses } from '../samples/output.ts'
import type { SampleRepository } from '../samples/repository.ts'
import { streamVerdicts } from '../samples/stream.ts'
import { estimateLift } from '../statistics/lift.ts'
import { DuelTally, toDuelPair } from './duel-referee.ts'

interface ScoredPair {
  task: string
  a: number
  b: number
  floor: number
}

export interface DuelResultDeps {
  openItems: OpenJobItems
  samples: Pick<SampleRepository, 'listVerdicts'>
  cards: TaskCards
}

/** Aggregates the samples of a duel: its final result, or the current state while it is active. */
export async function aggregateDuel(
  job: JobOfKind<'duel'>,
  { openItems, samples, cards }: DuelResultDeps,
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
    warnings: skipped === 0 ? [] : [`${skipped} items have no score of both models and are left out`],
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
