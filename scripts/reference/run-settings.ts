/** docs/reference/run-settings.md: the settings of a run, from the schema that reads them. */
import { RunSettings, resolveSettings } from '@reasoning-gym-server/contract/run-settings'
import { describeSchema, formatShortValue } from './schema.ts'
import { formatDefault, listGroupedFields } from './settings.ts'
import { formatTable } from './table.ts'

const GROUPS = {
  'Items and tasks': [
    'preset',
    'seed',
    'tasks',
    'exclude',
    'sampling',
    'exclude_eval_items',
    'avoid_repeated_items',
    'item_lease_s',
    'max_groups_ahead',
  ],
  Difficulty: ['complexity_mode', 'difficulty', 'curriculum_target_accuracy', 'curriculum_start'],
  'Groups and batches': [
    'group_size',
    'batch_size',
    'buffer',
    'buffer_max_groups',
    'buffer_open_groups',
    'open_group_timeout_s',
    'keep_groups',
    'max_policy_lag',
  ],
  'Answers and scores': ['extraction', 'dual_format', 'scoring'],
  'Rewards and advantages': [
    'length_penalty',
    'max_token_length',
    'mask_too_long_completions',
    'min_trained_tokens',
    'advantage',
    'drop_equal_scores',
    'signal_on',
    'unscored_rollouts',
  ],
  Prompt: ['system_prompt', 'system_prompt_role'],
  'Dumps and logs': [
    'dump_rollouts',
    'dump_failed_rollouts',
    'rollout_save_score_threshold',
    'debug_logging',
    'suppress_base_env_logs',
  ],
  'Suite of the run': ['num_eval_samples_per_task', 'eval_seed'],
} as const

const PAGE_HEAD = `# Run settings

\`PUT /runs/{run}\` creates a run or changes its settings. The body is a JSON object of settings. A setting that the body leaves out keeps
its value; null restores the default of the run's \`preset\`, except for \`system_prompt\`, where null means no system prompt.

The preset \`original\` has the defaults of the original environment. The preset \`clean\` has the defaults that we recommend for new
training runs; the column *with \`clean\`* shows where it differs. [Coming from the original](../guides/coming-from-the-original.md)
explains the choices.`

export function buildRunSettingsPage(): string {
  const sections = listGroupedFields(RunSettings, GROUPS).map(([title, fields]) => {
    const rows = fields.map(([name, schema]) => [
      `\`${name}\``,
      describeSchema(schema),
      name === 'system_prompt' ? 'see below' : formatDefault(schema),
      formatCleanValue(name),
      schema.description ?? '',
    ])
    return `## ${title}\n\n${formatTable(['setting', 'values', 'default', 'with `clean`', 'meaning'], rows)}`
  })
  const { system_prompt: prompt } = RunSettings.parse({})
  return `${[PAGE_HEAD, ...sections, `The default system prompt:\n\n\`\`\`text\n${prompt}\n\`\`\``].join('\n\n')}\n`
}

/** What the preset `clean` changes. */
function formatCleanValue(name: string): string {
  const [original, clean] = (['original', 'clean'] as const).map((preset) => resolveSettings({ preset }))
  const key = name as keyof RunSettings // a field of it
  const same = JSON.stringify(original?.[key]) === JSON.stringify(clean?.[key])
  return same || name === 'preset' ? '' : formatShortValue(clean?.[key])
}
