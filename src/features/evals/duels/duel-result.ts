/** Aggregates the samples of a duel into its result: which model is better, how certain that is, and by how much. */
import type { DuelResult } from '@reasoning-gym-server/contract/duel'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { meanOrNull } from '../../../grading/statistics.ts'
import type { DuelSpec } from '../generation-job-spec.ts'
import { countFailures, type FailureCause } from '../sample-failures.ts'
import { listFailureCauses, type SampleVerdict } from '../sample-output.ts'
import { computeLift } from '../statistics/lift.ts'
import { DuelStanding, toDuelPair } from './duel-standing.ts'

export interface SampledDuelItem {
  id: string
  guessFloor: number | undefined
  verdicts: (SampleVerdict | null)[]
}

interface ScoredPair {
  task: string
  a: number
  b: number
  floor: number
}

/** Builds the result. With `isActive`, the duel is still running and the result is its current state. */
export function buildDuelResult(spec: DuelSpec, items: readonly SampledDuelItem[], isActive: boolean): DuelResult {
  const standing = new DuelStanding(spec)
  const pairs: ScoredPair[] = []
  const causes: FailureCause[] = []
  for (const { id, guessFloor, verdicts } of items) {
    const pair = toDuelPair(verdicts)
    if (!pair || standing.test.decision) break
    standing.add(pair)
    const [{ score: a }, { score: b }] = pair
    if (a !== null && b !== null) pairs.push({ task: decodeItemId(id).task, a, b, floor: guessFloor ?? 0 })
    causes.push(...pair.flatMap(listFailureCauses))
  }
  const { test } = standing
  const ended_by = getEndedBy(standing, spec, isActive)
  const skipped = standing.items - pairs.length
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

function getEndedBy({ test, items }: DuelStanding, spec: DuelSpec, isActive: boolean): DuelResult['ended_by'] {
  if (test.decision) return test.decision === 'equivalent' ? 'equivalence' : 'winner'
  if (items >= spec.max_items) return 'max_items'
  return isActive ? null : 'interruption'
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
  const { lift } = computeLift(mean === null ? null : { mean, stderr: null, confidence_95: null }, floors)
  return { mean_score: mean, lift }
}

function buildRepeat(spec: DuelSpec) {
  const { model, opponent, suite, max_items, alpha, smallest_difference, grading_rules, prompt, engine, server } = spec
  return {
    suite,
    ...{ max_items, alpha, smallest_difference },
    engine: { library: 'reasoning-gym', version: engine },
    server,
    a: { name: model.name, base_url: model.base_url },
    b: { name: opponent.name, base_url: opponent.base_url },
    sampling: model.params,
    ...grading_rules,
    ...prompt,
  }
}
