/** The stored fields of open and closed groups, and of what a run has of them. */
import { RecordDeclaration } from '../../../platform/redis/record.ts'

export const openGroupRecord = new RecordDeclaration({
  item_id: { kind: 'text' },
  /** Samples whose answer has yet to leave, and samples that count. */
  pending: { kind: 'counter' },
  counted: { kind: 'counter' },
  /** IDs of the samples that count, in order, separated by spaces. */
  order: { kind: 'text' },
  /** Of the rollouts. */
  bytes: { kind: 'counter' },
  /** Of a closed group: 1 if it is to wait for a trainer. */
  for_buffer: { kind: 'counter' },
  closed_at: { kind: 'timestamp' },
})

/** Fields of which an open group has one for each sample, or for each content of pending samples. */
export const SAMPLE_FIELDS = {
  /** A sample's rollout: a compressed blob of JSON. */
  texts_prefix: 'texts:',
  /** JSON of a pending sample: `{ call, content, retried_at? }`. */
  pending_prefix: 'pending:',
  /** IDs of pending samples of that content that were not sent again, separated by spaces. */
  unmatched_prefix: 'unmatched:',
} as const

export const openGroupTotalsRecord = new RecordDeclaration({
  /** Of the rollouts of open and closed groups. */
  bytes: { kind: 'counter' },
  /** Groups closed so far: numbers their IDs. */
  closed: { kind: 'counter' },
})
