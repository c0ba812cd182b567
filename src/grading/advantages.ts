/** Advantages of the voters of one group, from their rewards. */
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { mean, sampleStd } from './statistics.ts'

const STD_FLOOR = 1e-4

/** One advantage for each reward. The only rollout of a group has no baseline, so its advantage is its reward. */
export function computeAdvantages(rewards: number[], kind: RunSettings['advantage']): number[] {
  const n = rewards.length
  if (n === 1 || kind === 'none') return rewards
  const center = mean(rewards)
  switch (kind) {
    case 'mean':
      return rewards.map((reward) => reward - center)
    case 'mean_std': {
      const std = sampleStd(rewards)
      return rewards.map((reward) => (reward - center) / (std + STD_FLOOR))
    }
    case 'leave_one_out':
      return rewards.map((reward) => ((reward - center) * n) / (n - 1))
  }
}
