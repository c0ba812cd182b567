/** The stored fields of a run's dump state: how much waits for files, and how far each kind of file is. */
import { DumpKind } from '../../contract/dump.ts'
import { RecordDeclaration } from '../../platform/redis/record.ts'

const KIND = new RegExp(`^(?:${DumpKind.options.join('|')})$`)

export const dumpStateRecord = new RecordDeclaration({
  /** Of the records that wait for a file or for being written to it. */
  bytes: { kind: 'counter' },
  /** When the last record of the kind was added. */
  grown_at: { kind: 'timestamps', prefix: 'grown_at:', names: KIND },
  /** Files whose groups are fixed, written or not: the number of the next file. */
  files: { kind: 'counters', prefix: 'files:', names: KIND },
  written_groups: { kind: 'counters', prefix: 'written_groups:', names: KIND },
  rejected_groups: { kind: 'counters', prefix: 'rejected_groups:', names: KIND },
})
