/** docs/reference/environment.md: the environment variables, from the schema that reads them. */
import { EnvironmentSchema } from '../../src/platform/environment.ts'
import { describeSchema } from './schema.ts'
import { formatDefault, listGroupedFields } from './settings.ts'
import { formatTable } from './table.ts'

const GROUPS = {
  'Addresses and files': [
    'HOST',
    'PORT',
    'WORKER_PORT',
    'ORS_PORT',
    'DATA_DIR',
    'LOG_LEVEL',
    'PYTHON',
    'ENGINE_PYTHON',
  ],
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
    'WORKER_CONCURRENCY',
    'TASKS_PATH',
    'WATCH_TASKS',
    'PYTHON_WORKERS',
    'SCORE_DEADLINE_MS',
    'MAKE_DEADLINE_MS',
    'ANSWER_MAX_CHARS',
  ],
  'Memory and disk': [
    'BUFFER_MAX_BYTES',
    'BODIES_MAX_BYTES',
    'REPLIES_MAX_BYTES',
    'SLOW_CLIENT_S',
    'DUMPS_MAX_BYTES',
    'DUMP_IDLE_FLUSH_S',
    'OPENENV_MAX_SOCKETS',
    'OPENENV_IDLE_S',
  ],
  'Models for evals': ['MODEL_HOSTS', 'MODEL_CONCURRENCY'],
  'Command line': ['REASONING_GYM_URL', 'REASONING_GYM_API_KEY', 'MODEL_API_KEY'],
} as const

const PAGE_HEAD = `# Environment variables

The server and the command line read these variables from the environment, or from a \`.env\` file in the working directory. The
environment takes precedence. Separate the entries of a list with commas. An empty value counts as not set. If a value is invalid, the
process does not start and prints a message that names the variable.`

export function buildEnvironmentPage(): string {
  const sections = listGroupedFields(EnvironmentSchema, GROUPS).map(([title, fields]) => {
    const rows = fields.map(([name, schema]) => [
      `\`${name}\``,
      describeSchema(schema),
      schema.defaultInWords ?? (formatDefault(schema) || 'not set'),
      schema.description ?? '',
    ])
    return `## ${title}\n\n${formatTable(['variable', 'values', 'default', 'meaning'], rows)}`
  })
  return `${[PAGE_HEAD, ...sections].join('\n\n')}\n`
}
