/** The bins of rewards and lengths whose counts show how distributions move over training. They are coarse, so that a group adds few sums. */

export const REWARD_BINS = 10
/** The last bin has all lengths above 2^19. */
export const LENGTH_BINS = 21

/** Bins of equal width over [0, 1]. The first also has all rewards below it, the last has 1 and all above it. */
export function getRewardBin(reward: number): number {
  return Math.min(REWARD_BINS - 1, Math.max(0, Math.floor(reward * REWARD_BINS + 1e-9)))
}

/** Bin k has the lengths above 2^(k-1), up to 2^k; bin 0 has 0 and 1. */
export function getLengthBin(length: number): number {
  return length <= 1 ? 0 : Math.min(LENGTH_BINS - 1, 32 - Math.clz32(length - 1))
}
