/** Computes figures of a whole batch: totals for normalizing a loss, policy lag, and metrics for a logger. */

import type { BatchTotals, PolicyLag, RolloutSummary, StoredBatch } from '@reasoning-gym-server/contract/batch'
import { computeGroupMetrics, omitUnknown, sumGroups } from '../../grading/group-statistics.ts'
import { mean, percentile, populationStd } from '../../grading/statistics.ts'
import { countSequences, type GroupSlice, listGroupSlices } from './rank-slices.ts'

export function computeBatchTotals(batch: StoredBatch): BatchTotals {
  const slices = listGroupSlices(batch)
  const trained = listDeliveredRollouts(slices).filter(isTrained)
  return {
    groups: slices.length,
    sequences: countSequences(slices),
    trained_sequences: trained.length,
    trained_tokens: trained.reduce((sum, [, , length, tokens]) => sum + (tokens ?? length ?? 0), 0),
  }
}

export function computePolicyLag({
  groups,
  policy_version,
}: Pick<StoredBatch, 'groups' | 'policy_version'>): PolicyLag {
  const lags = groups.flatMap((group) => (group.policy_version === null ? [] : [policy_version - group.policy_version]))
  if (lags.length === 0) return { min: null, mean: null, max: null }
  return { min: minimum(lags), mean: mean(lags), max: maximum(lags) }
}

/**
 * Computes flat metrics for a logger and leaves out those without data. They are exact, because a batch has all its
 * values.
 */
export function computeBatchMetrics(batch: StoredBatch): Record<string, number> {
  const rollouts = batch.groups.flatMap((group) => group.rollouts)
  const rewards = rollouts.flatMap(([reward]) => reward ?? [])
  const lengths = rollouts.flatMap(([, , length]) => length ?? [])
  const totals = computeBatchTotals(batch)
  const lag = computePolicyLag(batch)
  return omitUnknown({
    'batch/groups': totals.groups,
    'batch/sequences': totals.sequences,
    'batch/trained_sequences': totals.trained_sequences,
    'batch/trained_tokens': totals.trained_tokens,
    ...computeGroupMetrics(sumGroups(batch.groups)),
    'reward/std': rewards.length > 0 ? populationStd(rewards) : null,
    'length/p95': percentile(lengths, 0.95),
    'lag/min': lag.min,
    'lag/mean': lag.mean,
    'lag/max': lag.max,
  })
}

/** Whether a rollout is a voter: scored, not skipped, and not masked. */
function isTrained([reward, , , , marks]: RolloutSummary): boolean {
  return reward !== null && !marks.includes('s') && !marks.includes('m')
}

function listDeliveredRollouts(slices: GroupSlice[]): RolloutSummary[] {
  return slices.flatMap(({ group, indices }) =>
    indices.flatMap((k) => {
      const rollout = group.rollouts[k]
      return rollout ? [rollout] : []
    }),
  )
}

const minimum = (values: number[]) => values.reduce((a, b) => Math.min(a, b))
const maximum = (values: number[]) => values.reduce((a, b) => Math.max(a, b))
