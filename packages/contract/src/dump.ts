/** Dump files: JSONL files of groups, their names, and the progress of a run's dumps. */
import { z } from 'zod'
import { Count } from './common.ts'
import { NOT_FOUND_CODES } from './errors.ts'
import { RunName } from './rollout.ts'

export const DumpKind = z.enum(['rollouts', 'failed']).meta({
  id: 'DumpKind',
  description: '`rollouts`: groups that `dump_rollouts` selects; `failed`: groups in which every score is 0.',
})
export type DumpKind = z.infer<typeof DumpKind>

export const DumpName = z
  .string()
  .regex(
    /^reasoning_gym_environment_(FAILED_)?rollouts_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}_\d{4,9}\.jsonl$/,
    'must be the name of a dump file, as GET /dumps lists it',
  )
  .meta({
    description: 'Name of a dump file.',
    examples: ['reasoning_gym_environment_rollouts_00000000-0000-4000-8000-000000000000_0001.jsonl'],
  })
  .register(NOT_FOUND_CODES, { code: 'unknown_dump', kind: 'dump' }) // last: every other method returns a copy that is not registered
export type DumpName = z.infer<typeof DumpName>

/** What the name of a dump file says, as in the original environment. */
export interface DumpFileKey {
  uuid: string
  kind: DumpKind
  /** Number of the file, counted from 0 for each run and kind. */
  number: number
}

/** Formats a name that `DumpName` accepts. */
export function formatDumpFileName({ uuid, kind, number }: DumpFileKey): DumpName {
  const word = kind === 'failed' ? 'FAILED_rollouts' : 'rollouts'
  return `reasoning_gym_environment_${word}_${uuid}_${String(number).padStart(4, '0')}.jsonl`
}

/** Returns undefined for names of other files. */
export function parseDumpFileName(name: string): DumpFileKey | undefined {
  if (!DumpName.safeParse(name).success) return undefined
  const [number = '', uuid = '', ...rest] = name.replace('.jsonl', '').split('_').toReversed()
  return { uuid, kind: rest.includes('FAILED') ? 'failed' : 'rollouts', number: Number(number) }
}

export const DumpFile = z
  .strictObject({
    name: DumpName.describe('Name of the file.'),
    run: RunName.describe('Run that the groups belong to.'),
    kind: DumpKind,
    groups: Count.describe('Number of groups, one per line.'),
    bytes: Count.describe('Size of the file in bytes.'),
    created_at: z.string().describe('Time at which the file was written, ISO 8601.'),
    node: z.string().describe('Host name of the machine that wrote the file.'),
    here: z.boolean().describe('Whether the node that answers this call has the file.'),
  })
  .meta({ id: 'DumpFile', description: 'A JSONL file of scored groups.' })
export type DumpFile = z.infer<typeof DumpFile>

const DumpKindProgress = z
  .strictObject({
    waiting: Count.describe('Number of groups that wait for the next file.'),
    of: Count.describe('Number of groups in a full file.'),
    unwritten: Count.describe('Number of complete files that are not on disk yet.'),
    written: Count.describe('Number of groups written to disk, including those of deleted files.'),
    refused: Count.describe('Number of groups that were not dumped because the limit `DUMPS_MAX_BYTES` was reached.'),
  })
  .meta({ id: 'DumpKindProgress', description: 'Progress of one kind of dump.' })

export const DumpProgress = z
  .strictObject({
    rollouts: DumpKindProgress.describe('Dumps of `dump_rollouts`.'),
    failed: DumpKindProgress.describe('Dumps of `dump_failed_rollouts`.'),
  })
  .meta({ id: 'DumpProgress', description: 'Progress of the dumps of a run.' })
export type DumpProgress = z.infer<typeof DumpProgress>
