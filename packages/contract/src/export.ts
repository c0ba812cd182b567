/** Exports of a run's rollouts as training data: parameters and manifest. */
import { z } from 'zod'
import { JsonObject, NullableText, queryBoolean } from './common.ts'
import { RunName } from './rollout.ts'
import { LibraryVersion } from './task.ts'

export const ExportFormat = z.enum(['sft', 'dpo']).meta({
  id: 'ExportFormat',
  description: '`sft`: chats of the best rollouts; `dpo`: pairs of a better and a worse rollout of one group.',
})
export type ExportFormat = z.infer<typeof ExportFormat>

export const ExportSource = z.enum(['all', 'dumps', 'kept']).meta({
  id: 'ExportSource',
  description: '`dumps`: the dump files of the run; `kept`: the groups that the server still keeps; `all`: both.',
})

export const ExportParams = z.strictObject({
  format: ExportFormat.default('sft').describe(
    'Format of the lines. `sft`: chats of the best rollouts of an item; `dpo`: pairs of a better and a worse rollout of one group.',
  ),
  min_reward: z.coerce
    .number()
    .default(0.5)
    .describe('Minimum reward of a rollout, or of the chosen rollout of a pair.'),
  max_per_item: z.coerce
    .number()
    .int()
    .min(1)
    .max(1024)
    .default(1)
    .describe('Maximum number of lines per item, best first.'),
  dedupe: queryBoolean().default(true).describe('If true, the same text for the same prompt is exported only once.'),
  source: ExportSource.default('all').describe(
    'Where groups are read from: the run’s dump files, the groups that the server still keeps, or both. Each group is exported once. Kept groups with items of another library version are left out.',
  ),
})
export type ExportParams = z.infer<typeof ExportParams>

export const ExportManifest = z
  .strictObject({
    run: RunName,
    run_uuid: z.string().describe('ID of the run in the names of its dump files.'),
    created_at: z.string().describe('Time of the export, ISO 8601.'),
    server: z.string().describe('Version of the server.'),
    engine: LibraryVersion.describe('Library that made the items.'),
    ask: z
      .strictObject({
        format: ExportFormat,
        min_reward: z.number().describe('Minimum reward.'),
        max_per_item: z.int().describe('Maximum number of lines per item.'),
        dedupe: z.boolean().describe('Whether repeated texts are left out.'),
        source: ExportSource,
      })
      .describe('Parameters of the export.'),
    prompt: z
      .strictObject({
        system_prompt: NullableText.describe('Instructions; null if there are none.'),
        system_prompt_role: z.string().describe('Role of the instructions.'),
        clarify: z.boolean().describe('Whether the prompts contain the clarifications of their items.'),
      })
      .describe('Prompt of the run.'),
    settings: JsonObject.describe('Settings of the run at the time of the export.'),
    groups_read: z.int().describe('Number of groups read.'),
    lines: z.int().describe('Number of lines exported.'),
    files: z.array(z.string()).describe('Names of the dump files that were read.'),
    files_elsewhere: z
      .array(
        z
          .strictObject({
            name: z.string().describe('Name of the file.'),
            node: z.string().describe('Host name of the node that has the file.'),
          })
          .describe('Dump file that only another node has.'),
      )
      .describe('Dump files that only another node has. Their groups are missing, unless the server still keeps them.'),
  })
  .meta({
    id: 'ExportManifest',
    description: 'Source of an export. It lets another server make the same prompts and items again.',
  })
export type ExportManifest = z.infer<typeof ExportManifest>
