/** What an export of a run's rollouts is asked for, and what it says of itself. */
import { z } from 'zod'
import { RunName } from './rollout.ts'

export const ExportFormat = z.enum(['sft', 'dpo']).meta({ id: 'ExportFormat' })
export type ExportFormat = z.infer<typeof ExportFormat>

export const ExportSource = z.enum(['all', 'dumps', 'kept']).meta({ id: 'ExportSource' })

export const ExportParams = z.strictObject({
  format: ExportFormat.default('sft').describe(
    '`sft`: chat lines, the best rollouts of an item; `dpo`: pairs of a group',
  ),
  min_reward: z.coerce.number().default(0.5).describe('Least reward of a rollout, or of the chosen one of a pair'),
  max_per_item: z.coerce.number().int().min(1).max(1024).default(1).describe('Lines of one item, the best first'),
  dedupe: z.stringbool().default(true).describe('The same text for the same prompt only once'),
  source: ExportSource.default('all').describe(
    'The run’s dump files, its groups that are still kept, or both, each group once. Kept groups whose items are of another version of the library are left out',
  ),
})
export type ExportParams = z.infer<typeof ExportParams>

/** Where an export comes from; lets another server make the same prompts and items again. */
export const ExportManifest = z
  .strictObject({
    run: RunName,
    run_uuid: z.string(),
    created_at: z.string(),
    server: z.string().describe('Version of the server'),
    engine: z.strictObject({ library: z.string(), version: z.string() }),
    ask: z
      .strictObject({
        format: ExportFormat,
        min_reward: z.number(),
        max_per_item: z.int(),
        dedupe: z.boolean(),
        source: ExportSource,
      })
      .describe('The filters'),
    prompt: z.strictObject({ system_prompt: z.string().nullable(), system_prompt_role: z.string() }),
    settings: z.looseObject({}).describe('Of the run, as they are now'),
    groups_read: z.int(),
    lines: z.int(),
    files: z.array(z.string()).describe('Dump files that were read'),
    files_elsewhere: z
      .array(z.strictObject({ name: z.string(), node: z.string() }))
      .describe('Dump files of the run that only another node has: what is in them and no longer kept is missing'),
  })
  .meta({ id: 'ExportManifest' })
export type ExportManifest = z.infer<typeof ExportManifest>
