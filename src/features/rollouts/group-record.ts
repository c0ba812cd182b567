/**
 * The stored fields of a group. It is accepted, completed with its result, and finally reduced to its
 * hash.
 */
import { RecordDeclaration } from '../../platform/redis/record.ts'

export const groupRecord = new RecordDeclaration({
  status: { kind: 'text' },
  /** Hash of the posted content. It is kept the longest, to distinguish a repeated post from a new one. */
  content_hash: { kind: 'text' },
  accepted_at: { kind: 'timestamp' },
  rollouts: { kind: 'counter' },
  /** 1 if the group is to wait for a trainer. */
  for_buffer: { kind: 'counter' },
  /** Packed (group-payload.ts). */
  metadata: { kind: 'text' },
  /** Where its texts and arrays are, and their sizes (payload-repository.ts). */
  payload: { kind: 'text' },
  /** Size of texts and arrays. */
  bytes: { kind: 'counter' },
  /** Present until the group is delivered or dropped. */
  awaiting_delivery: { kind: 'counter' },
  result: { kind: 'text' },
  /** JSON: the reward of each rollout. Kept with the content hash, to answer a repeated post when the result is gone. */
  rewards: { kind: 'text' },
  destination: { kind: 'text' },
  /** Number of the group in order of completion. */
  completion_number: { kind: 'cursor' },
})
