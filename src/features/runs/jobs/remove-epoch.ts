/** Removes the keys of a run's ended epoch. Running it twice or concurrently is harmless. */
import type { JobAttempt } from '../../../platform/queue/job-definition.ts'
import type { EpochRef, EpochRepository } from '../epochs.ts'

export function createRemoveEpochProcessor({ epochs }: { epochs: EpochRepository }) {
  return (ref: EpochRef, { signal }: Pick<JobAttempt, 'signal'>): Promise<void> => epochs.remove(ref, signal)
}
