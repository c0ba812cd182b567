/** The stored fields of an Atropos store. */
import { RecordDeclaration } from '../../../platform/redis/record.ts'
import { Registration } from './wire.ts'

export const storeRecord = new RecordDeclaration({
  /** Registration of the latest trainer, as JSON. */
  registration: { kind: 'json', schema: Registration },
  /** 1 once a trainer has asked for a batch, which environments wait for. */
  started: { kind: 'counter' },
  /** Number of batches composed, counted from the trainer's starting step. */
  step: { kind: 'counter' },
  /** Last ID assigned. IDs continue after a reset, so that nothing old is taken for new. */
  last_group: { kind: 'cursor' },
  last_batch: { kind: 'cursor' },
  last_environment: { kind: 'cursor' },
  /** Number of environments that have asked for a name. */
  names: { kind: 'counters', prefix: 'name:', names: /^/ },
  /** Number of sequences in the queue. */
  sequences: { kind: 'counter' },
  /** Number of groups in the queue and in batches whose answer has not been sent. */
  groups: { kind: 'counter' },
  bytes: { kind: 'counter' },
  /** Latest group, and 1 once it is delivered: it is kept until the next one arrives. */
  latest: { kind: 'text' },
  latest_delivered: { kind: 'counter' },
})
