/** The stored fields of a run's dump state: the waiting records, and the progress of each kind of file. */
import { DumpKind } from '@reasoning-gym-server/contract/dump'
import { RecordDeclaration } from '../../platform/redis/record.ts'

const KIND = new RegExp(`^(?:${DumpKind.options.join('|')})$`)

export const dumpStateRecord = new RecordDeclaration({
  /** Size of the records that wait for a file or to be written to it. */
  bytes: { kind: 'counter' },
  /** When the last record of the kind was added. */
  grown_at: { kind: 'timestamps', prefix: 'grown_at:', names: KIND },
  /** Number of files whose groups are fixed, written or not, which is the number of the next file. */
  files: { kind: 'counters', prefix: 'files:', names: KIND },
  written_groups: { kind: 'counters', prefix: 'written_groups:', names: KIND },
  rejected_groups: { kind: 'counters', prefix: 'rejected_groups:', names: KIND },
})
