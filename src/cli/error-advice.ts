/** Explains what the server rejected in terms of the command line: options for fields, commands for calls, and similar names. */
import { z } from 'zod'
import type { ApiClient } from './api-client.ts'
import type { Problem } from './cli-error.ts'
import { formatSuggestion } from './suggestions.ts'

export async function explainProblem(problem: Problem, server: ApiClient): Promise<string> {
  const text =
    (await explainUnknownName(problem, server)) ??
    (await explainUnknownId(problem, server)) ??
    (await explainFields(problem)) ??
    nameCommands(problem.detail)
  const advice = problem.code === 'unauthorized' ? ' (set --key or REASONING_GYM_API_KEY)' : ''
  return `${text.replace(/\.$/, '')}${advice} [${problem.code}]`
}

interface NameKind {
  /** Where the server lists the names: the path, the list in the response, and the field of an entry. */
  from: [path: string, list: string, field: string]
  /** The command that lists them. */
  list: string
}

const NAME_KINDS: Record<string, NameKind> & { task: NameKind } = {
  task: { from: ['/tasks', 'tasks', 'name'], list: 'tasks' },
  category: { from: ['/tasks', 'tasks', 'category'], list: 'tasks' },
  run: { from: ['/runs', 'runs', 'run'], list: 'runs list' },
  suite: { from: ['/eval/suites', 'suites', 'name'], list: 'eval suites' },
}

async function explainUnknownName({ detail }: Problem, server: ApiClient): Promise<string | undefined> {
  const [, what = '', name = ''] = /^There is no (\w+)(?: named)? "([^"]+)"/.exec(detail) ?? []
  return NAME_KINDS[what] && explainUnknown(server, what, name)
}

/** Names a similar task, category, run or suite, or the command that lists them. */
export async function explainUnknown(server: ApiClient, what: string, name: string): Promise<string> {
  const { from, list } = NAME_KINDS[what] ?? NAME_KINDS.task
  const names = await listNames(server, ...from)
  return `There is no ${what} "${name}". ${formatSuggestion(name, names) || `"reasoning-gym-server ${list}" lists those that exist`}`
}

/** Returns an empty list if the server does not answer: a suggestion is not worth a second error. */
async function listNames(server: ApiClient, path: string, list: string, field: string): Promise<string[]> {
  const answer = await server
    .call(z.record(z.string(), z.unknown()), 'GET', path)
    .catch(() => ({}) as Record<string, unknown>)
  const entries = z.array(z.record(z.string(), z.unknown())).safeParse(answer[list]).data ?? []
  return entries.map((entry) => String(entry[field]))
}

interface IdKind {
  what: string
  /** A prefix and hexadecimal digits. */
  pattern: RegExp
  example: string
  /** The IDs in the path of the request. */
  find: (path: URL) => string[]
  /** Where the server lists them: the path and the list in the response; and the command that does. */
  from: (path: URL) => [path: string, list: string]
  command?: string
}

const getSegment = ({ pathname }: URL, k: number) => decodeURIComponent(pathname.split('/')[k] ?? '')

const ID_KINDS: Record<string, IdKind> = {
  unknown_eval: {
    what: 'eval',
    pattern: /^eval-[0-9a-f]{12,32}$/,
    example: 'eval-0123456789abcdef0123',
    find: (url) => (url.pathname.startsWith('/eval/compare') ? [...url.searchParams.values()] : [getSegment(url, 2)]),
    from: () => ['/eval', 'evals'],
    command: 'eval list',
  },
  unknown_duel: {
    what: 'duel',
    pattern: /^duel-[0-9a-f]{12,32}$/,
    example: 'duel-0123456789abcdef0123',
    find: (url) => [getSegment(url, 2)],
    from: () => ['/duels', 'duels'],
  },
  unknown_collection: {
    what: 'collection',
    pattern: /^collect-[0-9a-f]{12,32}$/,
    example: 'collect-0123456789abcdef0123',
    find: (url) => [getSegment(url, 4)],
    from: (url) => [`/runs/${url.pathname.split('/')[2]}/collect`, 'collections'],
  },
}

async function explainUnknownId({ code, request }: Problem, server: ApiClient): Promise<string | undefined> {
  const kind = ID_KINDS[code]
  if (kind === undefined) return undefined
  const url = new URL(request.path, 'http://server')
  const known = await listNames(server, ...kind.from(url), 'id')
  const missing = kind.find(url).filter((id) => !known.includes(id))
  const where = kind.command ? `. "reasoning-gym-server ${kind.command}" lists them` : ''
  const sentences = missing.slice(0, 1).map((id) => {
    const suggestion = formatSuggestion(id, known)
    if (!kind.pattern.test(id) && suggestion === '')
      return `"${id}" is not the ID of a ${kind.what}, which looks like ${kind.example}${where}`.replace(
        'a eval',
        'an eval',
      )
    return `There is no ${kind.what} "${id}"${suggestion ? `. ${suggestion}` : `, or the server no longer keeps it${where}`}`
  })
  return sentences[0]
}

/** Options whose names differ from those of the fields. */
const OPTIONS: Record<string, string> = {
  'model.name': '--model',
  'model.base_url': '--base-url',
  'model.api_key': '--api-key',
  'a.name': '--model',
  'a.base_url': '--base-url',
  'b.name': '--against',
  'b.base_url': '--against-base-url',
  'suite.tasks': '--task',
  'suite.n': '--items',
  'suite.seed': '--seed',
  'suite.difficulty': '--difficulty',
  samples_per_item: '--samples',
  labels: '--label',
  timeout_s: '--timeout',
}

async function explainFields({ detail, fields, request }: Problem): Promise<string | undefined> {
  if (fields.length === 0) return undefined
  const said = await Promise.all(
    fields.map(async ({ path, message }) => {
      const text = message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message
      return `${nameOption(path, request)}: ${nameCommands(text)}${await suggestValue(path, text, request)}`
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

/** A similar setting, or a similar one of the values that the message names. */
async function suggestValue(path: string, message: string, { path: url, body }: Problem['request']): Promise<string> {
  if (message === 'unknown field' && /^\/runs\/[^/]+(?:\?|$)/.test(url)) {
    const { RunSettings } = await import('@reasoning-gym-server/contract/run-settings') // lazy: only for this message
    const suggestion = formatSuggestion(path, Object.keys(RunSettings.shape))
    return suggestion && `. ${suggestion}`
  }
  const [, fields] = /; \w+ has ([\w, ]+)$/.exec(message) ?? []
  const field = fields && formatSuggestion(path.split('.').at(-1) ?? '', fields.split(', '))
  if (field) return `. ${field}`
  const value = path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], body)
  const values = [...message.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name)
  const suggestion = typeof value === 'string' && message.startsWith('expected') ? formatSuggestion(value, values) : ''
  return suggestion && `. ${suggestion}`
}

const COMMANDS: [call: RegExp, command: string][] = [
  [/GET \/tasks\b(?!\/)/g, '"reasoning-gym-server tasks"'],
  [/GET \/eval\/suites\b/g, '"reasoning-gym-server eval suites"'],
  [/GET \/runs\b(?!\/)/g, '"reasoning-gym-server runs list"'],
  [/PUT \/runs\/\{run\}(?!\/)/g, '"reasoning-gym-server runs set"'],
  [/POST \/eval\/(?:\{id\}|eval-\w+)\/resume/g, '"reasoning-gym-server eval --resume"'],
  [/POST \/duels\/(?:\{id\}|duel-\w+)\/resume/g, '"reasoning-gym-server duel --resume"'],
  [/POST \/runs\/\{run\}\/collect\b(?!\/)/g, '"reasoning-gym-server collect"'],
  [/POST \/items\b/g, '"reasoning-gym-server items"'],
  [/POST \/score\b/g, '"reasoning-gym-server score"'],
  [/POST \/eval\b(?!\/)/g, '"reasoning-gym-server eval"'],
  [/POST \/duels\b(?!\/)/g, '"reasoning-gym-server duel"'],
]

/** Replaces HTTP calls by the commands that make them. */
function nameCommands(text: string): string {
  return COMMANDS.reduce((said, [call, command]) => said.replaceAll(call, command), text)
}
