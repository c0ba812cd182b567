/** A JSONL file of groups, and what a run's dumps have come to. */
import { z } from 'zod'
import { NOT_FOUND_CODES } from './problem.ts'
import { RunName } from './rollout.ts'

/** `rollouts`: groups above the run's threshold; `failed`: groups whose every score is 0. */
export const DumpKind = z.enum(['rollouts', 'failed']).meta({ id: 'DumpKind' })
export type DumpKind = z.infer<typeof DumpKind>

/** Groups of a full file, as in the original environment. */
export const GROUPS_PER_FILE: Record<DumpKind, number> = { rollouts: 100, failed: 50 }

export const DumpName = z
  .string()
  .regex(
    /^reasoning_gym_environment_(FAILED_)?rollouts_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}_\d{4,9}\.jsonl$/,
    'the name of a dump file, as GET /dumps lists it',
  )
  .register(NOT_FOUND_CODES, { code: 'unknown_dump' })
export type DumpName = z.infer<typeof DumpName>

const Count = z.int().min(0)

export const DumpFile = z
  .strictObject({
    name: DumpName,
    run: RunName,
    kind: DumpKind,
    groups: Count,
    bytes: Count,
    created_at: z.string().describe('ISO 8601'),
    node: z.string().describe('Host name of the machine that wrote it'),
    here: z.boolean().describe('Whether the node that answers has it'),
  })
  .meta({ id: 'DumpFile' })
export type DumpFile = z.infer<typeof DumpFile>

const DumpKindProgress = z
  .strictObject({
    waiting: Count.describe('Groups that wait for the next file'),
    of: Count.describe('Groups of a full file'),
    unwritten: Count.describe('Files whose groups are fixed and which are not on disk yet'),
    written: Count.describe('Groups on disk, those of deleted files too'),
    refused: Count.describe('Groups that were not dumped for want of room'),
  })
  .meta({ id: 'DumpKindProgress' })
export type DumpKindProgress = z.infer<typeof DumpKindProgress>

/** How far a run's dumps are. */
export const DumpProgress = z
  .strictObject({ rollouts: DumpKindProgress, failed: DumpKindProgress })
  .meta({ id: 'DumpProgress' })
export type DumpProgress = z.infer<typeof DumpProgress>
