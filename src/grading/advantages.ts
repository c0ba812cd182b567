/** Advantages of the voters of one group from their rewards. */
import type { RunSettings } from '../contract/run.ts'

const STD_FLOOR = 1e-4

/** One advantage for each reward. A single voter has nothing to be compared with: its advantage is its reward. */
export function computeAdvantages(rewards: number[], kind: RunSettings['advantage']): number[] {
  const n = rewards.length
  if (n === 1 || kind === 'none') return rewards
  const mean = computeMean(rewards)
  switch (kind) {
    case 'mean':
      return rewards.map((reward) => reward - mean)
    case 'mean_std': {
      const std = Math.sqrt(sumOfSquares(rewards, mean) / (n - 1))
      return rewards.map((reward) => (reward - mean) / (std + STD_FLOOR))
    }
    case 'leave_one_out':
      return rewards.map((reward) => ((reward - mean) * n) / (n - 1))
  }
}

export function computeMean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The population's standard deviation. */
export function computePopulationStd(values: number[]): number {
  return Math.sqrt(sumOfSquares(values, computeMean(values)) / values.length)
}

function sumOfSquares(values: number[], mean: number): number {
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
}
