/** docs/reference/run-settings.md: the settings of a run and of the process, from the schemas that read them. */
import { z } from 'zod'
import { RunSettings, resolveSettings } from '../../src/contract/run.ts'
import { inlineReferences } from '../../src/http/openapi/components.ts'
import { EnvironmentSchema } from '../../src/platform/config.ts'
import { describeSchema, escapeTableCell, type JsonSchema } from './schema.ts'

/** Their defaults depend on the machine. */
const MACHINE_DEPENDENT_SETTINGS = new Set([
  'API_PROCESSES',
  'WORKERS',
  'PYTHON_WORKERS',
  'BODIES_MAX_BYTES',
  'REPLIES_MAX_BYTES',
])
const MAX_SHOWN_CHARS = 60

const PAGE_HEAD = [
  '# Settings',
  '',
  'Made by `npm run docs:reference` from the schemas that the server reads them with. The [README](../../README.md#settings-of-a-run) says',
  'more about some of them; [coming-from-the-original.md](../guides/coming-from-the-original.md) says which we recommend.',
].join('\n')

export function buildSettingsPage(): string {
  const run = listSchemaFields(RunSettings).map(([name, schema]) =>
    formatSettingRow(name, schema, formatCleanPresetValue(name)),
  )
  const environment = listSchemaFields(EnvironmentSchema).map(([name, schema]) =>
    formatSettingRow(name, MACHINE_DEPENDENT_SETTINGS.has(name) ? { ...schema, default: undefined } : schema).toSpliced(
      3,
      1,
    ),
  )
  return [
    PAGE_HEAD,
    '## Of a run',
    '`PUT /runs/{run}` with the settings themselves. Those that are not named keep their value, null restores the default (of the run’s\n`preset`), except `"system_prompt": null`, which means none.',
    formatTable(['setting', 'may be', 'default', 'with `clean`', ''], run),
    `The default of \`system_prompt\`:\n\n\`\`\`text\n${RunSettings.parse({}).system_prompt}\n\`\`\``,
    '## Of the process',
    'Read from the environment, or from a `.env` file where the server is started. Lists are comma-separated. An empty value counts as\nnone. What cannot be read stops the start with a line that names it.',
    formatTable(['variable', 'may be', 'default', ''], environment),
    'Where no default stands: `API_PROCESSES` the cores, 16 at most; `WORKERS` half of that; `PYTHON_WORKERS` two, or one on a single core; `BODIES_MAX_BYTES` and `REPLIES_MAX_BYTES` a 64th and a 32nd of the memory, divided by the cores (16 at most), within 16 to 64 and 32 to 256 MiB; the others are off.\n',
  ].join('\n\n')
}

function listSchemaFields(schema: z.ZodType): [string, JsonSchema][] {
  const document = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const { properties } = inlineReferences(document, document.$defs ?? {}) as JsonSchema // of an object
  return Object.entries(properties ?? {})
}

function formatSettingRow(name: string, schema: JsonSchema, second = ''): string[] {
  const value = schema.default === undefined ? '' : name === 'system_prompt' ? 'below' : formatValue(schema.default)
  return [`\`${name}\``, describeSchema(schema), value, second, schema.description ?? '']
}

/** What the preset `clean` changes. */
function formatCleanPresetValue(name: string): string {
  const [original, changed] = (['original', 'clean'] as const).map((preset) => resolveSettings({ preset }))
  const key = name as keyof RunSettings // a field of it
  const same = JSON.stringify(original?.[key]) === JSON.stringify(changed?.[key])
  return same || name === 'preset' ? '' : formatValue(changed?.[key])
}

function formatValue(value: unknown): string {
  const text = JSON.stringify(value)
  return `\`${text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text}\``
}

function formatTable(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((each) => `| ${each.map(escapeTableCell).join(' | ')} |`).join('\n')
}
