/** The stored fields of an Atropos store. */
import { RecordDeclaration } from '../../../platform/redis/record.ts'
import { Registration } from './wire.ts'

export const storeRecord = new RecordDeclaration({
  /** The registration of the trainer that came last, as JSON. */
  registration: { kind: 'json', schema: Registration },
  /** 1 once a trainer has asked for a batch: environments wait for it. */
  started: { kind: 'counter' },
  /** Batches composed, counted from the trainer's starting step. */
  step: { kind: 'counter' },
  /** IDs given so far; they go on after a reset, so that nothing old is taken for new. */
  last_group: { kind: 'cursor' },
  last_batch: { kind: 'cursor' },
  last_environment: { kind: 'cursor' },
  /** How many environments have asked for a name. */
  names: { kind: 'counters', prefix: 'name:', names: /^/ },
  /** Of the queue. */
  sequences: { kind: 'counter' },
  /** Of the queue and of batches whose answer has not left. */
  groups: { kind: 'counter' },
  bytes: { kind: 'counter' },
  /** The group that came last, and 1 once it is delivered: it is kept until the next comes. */
  latest: { kind: 'text' },
  latest_delivered: { kind: 'counter' },
})
