/** Sums of a whole batch: totals for normalising a loss, lag, and flat figures for a logger. */

import type { BatchTotals, GroupSummary, PolicyLag, RolloutSummary, StoredBatch } from '../../contract/batch.ts'
import { FormatErrorCode } from '../../contract/verdict.ts'
import { TRAINING_CORRECT_THRESHOLD } from '../../grading/group.ts'
import { countSequences, type GroupSlice, listGroupSlices } from './rank-slices.ts'

export function computeBatchTotals(batch: StoredBatch): BatchTotals {
  const portions = listGroupSlices(batch)
  const trained = listDeliveredRollouts(portions).filter(isTrained)
  return {
    groups: portions.length,
    sequences: countSequences(portions),
    trained_sequences: trained.length,
    trained_tokens: trained.reduce((sum, [, , length, tokens]) => sum + (tokens ?? length ?? 0), 0),
  }
}

export function computePolicyLag({
  groups,
  policy_version,
}: Pick<StoredBatch, 'groups' | 'policy_version'>): PolicyLag {
  const lags = groups.flatMap(({ version }) => (version === null ? [] : [policy_version - version]))
  if (lags.length === 0) return { min: null, mean: null, max: null }
  return { min: minimum(lags), mean: mean(lags), max: maximum(lags) }
}

/** Flat and numbers only; a figure that nothing is known for is left out. */
export function computeBatchMetrics(batch: StoredBatch): Record<string, number> {
  const { groups } = batch
  const all = groups.flatMap(({ each }) => each)
  const scored = all.filter(([reward]) => reward !== null)
  const rewards = scored.map(([reward]) => reward ?? 0)
  const lengths = all.flatMap(([, , length]) => (length === null ? [] : [length])).toSorted((a, b) => a - b)
  const frac = (of: RolloutSummary[], is: (rollout: RolloutSummary) => boolean) => of.filter(is).length / of.length
  const totals = computeBatchTotals(batch)
  const lag = computePolicyLag(batch)
  const figures: Record<string, number | null> = {
    'batch/groups': totals.groups,
    'batch/sequences': totals.sequences,
    'batch/trained_sequences': totals.trained_sequences,
    'batch/trained_tokens': totals.trained_tokens,
    'reward/mean': rewards.length > 0 ? mean(rewards) : null,
    'reward/std': rewards.length > 0 ? std(rewards) : null,
    'score/mean': scored.length > 0 ? mean(scored.map(([, score]) => score ?? 0)) : null,
    'score/frac_correct':
      scored.length > 0 ? frac(scored, ([, score]) => (score ?? 0) >= TRAINING_CORRECT_THRESHOLD) : null,
    'signal/frac': groups.filter(({ signal }) => signal).length / groups.length,
    'length/mean': lengths.length > 0 ? mean(lengths) : null,
    'length/p95': lengths[Math.ceil(lengths.length * 0.95) - 1] ?? null,
    'truncated/frac': frac(all, ([, , , , marks]) => marks.includes('t')),
    'skipped/frac': frac(all, ([, , , , marks]) => marks.includes('s')),
    'masked/frac': frac(all, ([, , , , marks]) => marks.includes('m')),
    'unscored/frac': frac(all, ([reward]) => reward === null),
    'lag/min': lag.min,
    'lag/mean': lag.mean,
    'lag/max': lag.max,
    ...Object.fromEntries(
      FormatErrorCode.options.map((fault) => [`fault/${fault}`, frac(all, ([, , , , marks]) => marks.includes(fault))]),
    ),
    ...computeTaskRewards(groups),
  }
  const known = Object.entries(figures).filter((entry): entry is [string, number] => entry[1] !== null)
  return Object.fromEntries(known)
}

function computeTaskRewards(groups: GroupSummary[]): Record<string, number> {
  const byTask = Map.groupBy(groups, ({ task }) => task)
  return Object.fromEntries(
    [...byTask].flatMap(([task, some]) => {
      const rewards = some.flatMap(({ each }) => each.flatMap(([reward]) => (reward === null ? [] : [reward])))
      return rewards.length === 0 ? [] : [[`task/${task}/reward`, mean(rewards)]]
    }),
  )
}

/** Voters: scored, not skipped, not masked. */
function isTrained([reward, , , , marks]: RolloutSummary): boolean {
  return reward !== null && !marks.includes('s') && !marks.includes('m')
}

function listDeliveredRollouts(portions: GroupSlice[]): RolloutSummary[] {
  return portions.flatMap(({ group, indices }) =>
    indices.flatMap((k) => {
      const rollout = group.each[k]
      return rollout ? [rollout] : []
    }),
  )
}

const minimum = (values: number[]) => values.reduce((a, b) => Math.min(a, b))
const maximum = (values: number[]) => values.reduce((a, b) => Math.max(a, b))
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

function std(values: number[]): number {
  const middle = mean(values)
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)))
}
