/** docs/settings.md: the settings of a run and of the process, from the schemas that read them. */
import { z } from 'zod'
import { Environment } from '../../src/config.ts'
import { RunSettings, settingsInForce } from '../../src/words/run.ts'
import { cell, type Schema, spoken } from './schema.ts'

/** Their defaults depend on the machine. */
const FROM_THE_CORES = new Set(['API_PROCESSES', 'WORKERS', 'ENGINE_HOSTS'])
const LONG = 60

const HEAD = [
  '# Settings',
  '',
  'Made by `npm run docs` from the schemas that the server reads them with. The [README](../README.md#settings-of-a-run) says',
  'more about some of them; [coming-from-the-original.md](coming-from-the-original.md) says which we recommend.',
].join('\n')

export function settingsPage(): string {
  const run = fields(RunSettings).map(([name, schema]) => row(name, schema, clean(name)))
  const environment = fields(Environment).map(([name, schema]) =>
    row(name, FROM_THE_CORES.has(name) ? { ...schema, default: undefined } : schema).toSpliced(3, 1),
  )
  return [
    HEAD,
    '## Of a run',
    '`PUT /runs/{run}` with the settings themselves. Those that are not named keep their value, null restores the default (of the run’s\n`preset`), except `"system_prompt": null`, which means none.',
    table(['setting', 'may be', 'default', 'with `clean`', ''], run),
    `The default of \`system_prompt\`:\n\n\`\`\`text\n${RunSettings.parse({}).system_prompt}\n\`\`\``,
    '## Of the process',
    'Read from the environment, or from a `.env` file where the server is started. Lists are comma-separated. An empty value counts as\nnone. What cannot be read stops the start with a line that names it.',
    table(['variable', 'may be', 'default', ''], environment),
    'Where no default stands: `API_PROCESSES` the cores, 16 at most; `WORKERS` half of that; `ENGINE_HOSTS` two, or one on a single core; the others are off.\n',
  ].join('\n\n')
}

function fields(schema: z.ZodType): [string, Schema][] {
  const { properties } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema // of an object
  return Object.entries(properties ?? {})
}

function row(name: string, schema: Schema, second = ''): string[] {
  const value = schema.default === undefined ? '' : name === 'system_prompt' ? 'below' : told(schema.default)
  return [`\`${name}\``, spoken(schema), value, second, schema.description ?? '']
}

/** What the preset `clean` changes. */
function clean(name: string): string {
  const [original, changed] = (['original', 'clean'] as const).map((preset) => settingsInForce({ preset }))
  const key = name as keyof RunSettings // a field of it
  const same = JSON.stringify(original?.[key]) === JSON.stringify(changed?.[key])
  return same || name === 'preset' ? '' : told(changed?.[key])
}

function told(value: unknown): string {
  const text = JSON.stringify(value)
  return `\`${text.length > LONG ? `${text.slice(0, LONG)}…` : text}\``
}

function table(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((each) => `| ${each.map(cell).join(' | ')} |`).join('\n')
}
