/** Explains what the server rejected in terms of the command line: options for fields, commands for calls, and similar names. */
import { findSimilar } from '@reasoning-gym-server/contract/similar-names'
import { z } from 'zod'
import type { ApiClient } from './api-client.ts'
import type { Problem } from './cli-error.ts'

export async function explainProblem(problem: Problem, server: ApiClient): Promise<string> {
  const { missing, fields, request, detail } = problem
  const hasReason = detail.includes(' gives no task: ') // a file that should have the missing task
  const text =
    (missing && !hasReason
      ? await explainMissing(missing, server, { path: request.path, isMalformed: fields.length > 0 })
      : undefined) ??
    (await explainFields(problem, server)) ??
    nameCommands(detail)
  const advice = problem.code === 'unauthorized' ? ' (set --key or REASONING_GYM_API_KEY)' : ''
  return `${text.replace(/\.$/, '')}${advice} [${problem.code}]`
}

interface NameKind {
  /** Where the server lists the names: the path, the list in the response, and the field of an entry. */
  from: [path: string, list: string, field: string]
  /** The command that lists them, if there is one. */
  command?: string
  /** What a name looks like that the server assigns. */
  example?: string
}

const NAME_KINDS: Record<string, (path: string) => NameKind> = {
  task: () => ({ from: ['/tasks', 'tasks', 'name'], command: 'tasks' }),
  category: () => ({ from: ['/tasks', 'tasks', 'category'], command: 'tasks' }),
  run: () => ({ from: ['/runs?archived=true&limit=200', 'runs', 'run'], command: 'runs list' }),
  suite: () => ({ from: ['/eval/suites', 'suites', 'name'], command: 'eval suites' }),
  eval: () => ({ from: ['/eval', 'evals', 'id'], command: 'eval list', example: 'eval-0123456789abcdef0123' }),
  collection: (path) => ({
    from: [`/runs/${path.split('/')[2]}/collect`, 'collections', 'id'],
    example: 'collect-0123456789abcdef0123',
  }),
}

/** Names something similar that exists, or the command that lists what does. `path` is that of the request. */
export async function explainMissing(
  { kind, name }: { kind: string; name: string },
  server: ApiClient,
  { path = '', isMalformed = false } = {},
): Promise<string | undefined> {
  const { from, command, example } = NAME_KINDS[kind]?.(path) ?? {}
  if (from === undefined) return undefined
  const suggestion = formatSuggestion(name, await listNames(server, ...from))
  if (suggestion) return `There is no ${kind} "${name}". ${suggestion}`
  const list = command && `"reasoning-gym-server ${command}${server.options}" lists`
  if (example === undefined) return `There is no ${kind} "${name}". ${list} those that exist`
  const where = list ? `. ${list} them` : ''
  if (!isMalformed) return `There is no ${kind} "${name}", or the server no longer keeps it${where}`
  return `"${name}" is not the ID of ${kind === 'eval' ? 'an' : 'a'} ${kind}, which looks like ${example}${where}`
}

/** An empty list if the server does not answer: a suggestion is not worth a second error. */
async function listNames(server: ApiClient, path: string, list: string, field: string): Promise<string[]> {
  const Answer = z.object({ [list]: z.array(z.object({ [field]: z.unknown() })) })
  const answer = await server.call(Answer, 'GET', path).catch(() => undefined)
  return (answer?.[list] ?? []).map((entry) => String(entry[field]))
}

/** Options whose names differ from those of the fields. */
const OPTIONS: Record<string, string> = {
  'model.name': '--model',
  'model.base_url': '--base-url',
  'model.api_key': '--api-key',
  'suite.tasks': '--task',
  'suite.n': '--items',
  'suite.seed': '--seed',
  'suite.difficulty': '--difficulty',
  samples_per_item: '--samples',
  labels: '--label',
  timeout_s: '--timeout',
}

async function explainFields({ detail, fields, request }: Problem, server: ApiClient): Promise<string | undefined> {
  if (fields.length === 0) return undefined
  const said = await Promise.all(
    fields.map(async ({ path, message }) => {
      const text = message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message
      return `${nameOption(path, request)}: ${nameCommands(text)}${await suggestForField(path, request, server)}`
    }),
  )
  const isRepeated = fields.some(({ path }) => detail.startsWith(`${path}: `))
  return isRepeated ? said.join('; ') : `${nameCommands(detail).replace(/\.$/, '')} (${said.join('; ')})`
}

/** The option that sets the field. Settings of a run and fields without an option keep their names. */
function nameOption(path: string, { method, path: url }: Problem['request']): string {
  if (method !== 'POST') return path
  const field = path.replace(/(?:\.\d+)+$/, '')
  if (field.startsWith('config.')) return `--config, field ${field.slice('config.'.length)}`
  if (field === 'seed' && !url.startsWith('/items')) return '--sample-seed'
  if (OPTIONS[field]) return OPTIONS[field]
  return field.includes('.') || field === '' ? path : `--${field.replaceAll('_', '-')}`
}

/** A similar setting, task, or field of a task's config; empty if there is none. */
async function suggestForField(path: string, request: Problem['request'], server: ApiClient): Promise<string> {
  const value = getAt(request.body, path.split('.'))
  const [given, names] = path.includes('config.')
    ? [path.split('.').at(-1) ?? '', await listConfigFields(path, request.body, server)]
    : /(?:^|\.)tasks?(?:\.\d+)?$/.test(path)
      ? [typeof value === 'string' ? value : '', await listNames(server, '/tasks', 'tasks', 'name')]
      : [path, await listSettings(path, request)]
  const suggestion = names.includes(given) ? '' : formatSuggestion(given, names)
  return suggestion && `. ${suggestion}`
}

/** `config.N` belongs to the task that stands beside the config in the body. */
async function listConfigFields(path: string, body: unknown, server: ApiClient): Promise<string[]> {
  const holder = getAt(body, path.split('.').slice(0, path.split('.').indexOf('config')))
  const { task } = z.object({ task: z.string() }).safeParse(holder).data ?? {}
  if (task === undefined) return []
  const Task = z.object({ config_schema: z.object({ properties: z.record(z.string(), z.unknown()) }) })
  const found = await server.call(Task, 'GET', `/tasks/${encodeURIComponent(task)}`).catch(() => undefined)
  return Object.keys(found?.config_schema.properties ?? {})
}

/** The names of settings, if `runs set` was given an unknown one. */
async function listSettings(path: string, { path: url }: Problem['request']): Promise<string[]> {
  if (path.includes('.') || !/^\/runs\/[^/]+(?:\?|$)/.test(url)) return []
  const { RunSettings } = await import('@reasoning-gym-server/contract/run-settings') // lazy: only for this message
  return Object.keys(RunSettings.shape)
}

function getAt(value: unknown, path: string[]): unknown {
  return path.reduce(
    (at: unknown, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
    value,
  )
}

const COMMANDS: [call: RegExp, command: string][] = [
  [/GET \/tasks\b(?!\/)/g, '"reasoning-gym-server tasks"'],
  [/GET \/eval\/suites\b/g, '"reasoning-gym-server eval suites"'],
  [/GET \/runs\b(?!\/)/g, '"reasoning-gym-server runs list"'],
  [/PUT \/runs\/\{run\}(?!\/)/g, '"reasoning-gym-server runs set RUN"'],
  [/POST \/eval\/(?:\{id\}|eval-\w+)\/resume/g, '"reasoning-gym-server eval --resume ID"'],
  [/POST \/runs\/\{run\}\/collect\b(?!\/)/g, '"reasoning-gym-server collect --run RUN"'],
  [/POST \/items\b/g, '"reasoning-gym-server items"'],
  [/POST \/score\b/g, '"reasoning-gym-server score"'],
  [/POST \/eval\b(?!\/)/g, '"reasoning-gym-server eval"'],
]

/** Replaces HTTP calls by the commands that make them. */
function nameCommands(text: string): string {
  return COMMANDS.reduce((said, [call, command]) => said.replaceAll(call, command), text)
}

/** `Did you mean a?`, `Did you mean a or b?`, or an empty string if no name is similar. */
export function formatSuggestion(word: string, names: Iterable<string>): string {
  const similar = findSimilar(word, names)
  return similar.length === 0 ? '' : `Did you mean ${similar.join(' or ')}?`
}
