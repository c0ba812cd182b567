/** docs/reference/environment.md and run-settings.md, from the schemas that read environment variables and the settings of a run. */

import { RunSettings, resolveSettings } from '@reasoning-gym-server/contract/run-settings'
import { EnvironmentSchema } from '../../src/platform/environment.ts'
import { describeSchema, formatDefault, formatShortValue, formatTable, listGroupedFields } from './page-parts.ts'

const ENVIRONMENT_GROUPS = {
  'Addresses and files': ['HOST', 'PORT', 'WORKER_PORT', 'DATA_DIR', 'LOG_LEVEL', 'PYTHON', 'ENGINE_PYTHON'],
  Redis: [
    'REDIS_URL',
    'REDIS_PREFIX',
    'REDIS_REPLICAS',
    'REDIS_TLS_CA_FILE',
    'REDIS_TLS_CERT_FILE',
    'REDIS_TLS_KEY_FILE',
    'REDIS_TLS_SERVERNAME',
  ],
  Access: [
    'API_KEYS',
    'API_KEYS_FILE',
    'CORS_ORIGINS',
    'TRUST_PROXY',
    'RATE_LIMIT',
    'BYTE_RATE_LIMIT',
    'ANONYMOUS_RATE_LIMIT',
    'MAX_ACTIVE_EVALS',
  ],
  'Processes and engine': [
    'API_PROCESSES',
    'WORKERS',
    'SMALL',
    'WORKER_CONCURRENCY',
    'JOB_LOCK_S',
    'TASKS_PATH',
    'WATCH_TASKS',
    'PYTHON_WORKERS',
    'SCORE_DEADLINE_MS',
    'MAKE_DEADLINE_MS',
    'ANSWER_MAX_CHARS',
  ],
  'Memory and disk': [
    'BUFFER_MAX_BYTES',
    'LARGE_BODIES',
    'LARGE_REPLIES',
    'SLOW_CLIENT_S',
    'DUMPS_MAX_BYTES',
    'DUMP_IDLE_FLUSH_S',
  ],
  OpenTelemetry: [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'OTEL_TRACES_EXPORTER',
    'OTEL_TRACES_SAMPLER',
    'OTEL_TRACES_SAMPLER_ARG',
    'OTEL_SERVICE_NAME',
    'OTEL_SDK_DISABLED',
  ],
  'Models for evals': ['MODEL_HOSTS', 'MODEL_CONCURRENCY', 'EVAL_OUTPUTS_MAX_BYTES'],
  'Command line': ['REASONING_GYM_URL', 'REASONING_GYM_API_KEY', 'MODEL_API_KEY'],
} as const

const ENVIRONMENT_HEAD = `# Environment variables

The server and the command line read these variables from the environment, or from a \`.env\` file in the working directory. The
environment takes precedence. Separate the entries of a list with commas. An empty value counts as not set. If a value is invalid, the
process does not start and prints a message that names the variable.`

export function buildEnvironmentPage(): string {
  const sections = listGroupedFields(EnvironmentSchema, ENVIRONMENT_GROUPS).map(([title, fields]) => {
    const rows = fields.map(([name, schema]) => [
      `\`${name}\``,
      describeSchema(schema),
      schema.defaultInWords ?? (formatDefault(schema) || '–'),
      schema.description ?? '',
    ])
    return `## ${title}\n\n${formatTable(['variable', 'values', 'default', 'meaning'], rows)}`
  })
  return `${[ENVIRONMENT_HEAD, ...sections].join('\n\n')}\n`
}

const RUN_GROUPS = {
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
  'Answers and scores': [
    'extraction',
    'stop',
    'opens_thinking',
    'dual_format',
    'scoring',
    'feedback',
    'tries',
    'try_discount',
    'retry_prompt',
  ],
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
  Prompt: ['system_prompt', 'system_prompt_role', 'clarify'],
  'Dumps and logs': [
    'dump_rollouts',
    'dump_failed_rollouts',
    'rollout_save_score_threshold',
    'debug_logging',
    'suppress_base_env_logs',
  ],
  'Suite of the run': ['num_eval_samples_per_task', 'eval_seed'],
  'Tags and notes': ['tags', 'notes'],
} as const

const RUN_HEAD = `# Run settings

\`PUT /runs/{run}\` creates a run or changes its settings. The body is a JSON object of settings. A setting that the body leaves out keeps
its value; null restores the default of the run's \`preset\`, except for \`system_prompt\`, where null means no system prompt.

We recommend the preset \`clean\` for new training runs; the tables name its values where they differ from the defaults, which are those of
the original environment (\`preset: "original"\`).
[Coming from the original](../guides/coming-from-the-original.md) explains the choices.`

export function buildRunSettingsPage(): string {
  const sections = listGroupedFields(RunSettings, RUN_GROUPS).map(([title, fields]) => {
    const rows = fields.map(([name, schema]) => [
      `\`${name}\``,
      describeSchema(schema),
      name === 'system_prompt' ? 'see below' : formatDefault(schema) + formatCleanValue(name),
      schema.description ?? '',
    ])
    return `## ${title}\n\n${formatTable(['setting', 'values', 'default', 'meaning'], rows)}`
  })
  const { system_prompt: prompt } = RunSettings.parse({})
  return `${[RUN_HEAD, ...sections, `The default system prompt:\n\n\`\`\`text\n${prompt}\n\`\`\``].join('\n\n')}\n`
}

/** What the preset `clean` changes. */
function formatCleanValue(name: string): string {
  const [original, clean] = (['original', 'clean'] as const).map((preset) => resolveSettings({ preset }))
  const key = name as keyof RunSettings // a field of it
  const same = JSON.stringify(original?.[key]) === JSON.stringify(clean?.[key])
  return same || name === 'preset' ? '' : `, \`clean\`: ${formatShortValue(clean?.[key])}`
}
