/** The stored fields of open and closed groups, and the totals of a run's groups. */
import { RecordDeclaration } from '../../../platform/redis/record.ts'

export const openGroupRecord = new RecordDeclaration({
  item_id: { kind: 'text' },
  /** Number of samples whose response is not delivered yet; `counted` is the number of samples that count. */
  pending: { kind: 'counter' },
  counted: { kind: 'counter' },
  /** IDs of the samples that count, in order, separated by spaces. */
  order: { kind: 'text' },
  /** Bytes of the stored rollouts. */
  bytes: { kind: 'counter' },
  /** 1 if the closed group must wait for a trainer in the buffer. */
  for_buffer: { kind: 'counter' },
  closed_at: { kind: 'timestamp' },
})

/** Prefixes of the fields that an open group has for each sample, or for each distinct content of pending samples. */
export const SAMPLE_FIELDS = {
  /** Rollout of a sample: a compressed blob of JSON. */
  texts_prefix: 'texts:',
  /** JSON of a pending sample: `{ call, content, retried_at? }`. */
  pending_prefix: 'pending:',
  /** IDs of pending samples with that content that have not been matched to a retry, separated by spaces. */
  unmatched_prefix: 'unmatched:',
} as const

export const openGroupTotalsRecord = new RecordDeclaration({
  /** Bytes of the stored rollouts of open and closed groups. */
  bytes: { kind: 'counter' },
  /** Number of groups closed so far, used to number their IDs. */
  closed: { kind: 'counter' },
})
