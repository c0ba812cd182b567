/** Explains what the server rejected in terms of the command line: options for fields, commands for calls, and similar names. */
import { findSimilar } from '@reasoning-gym-server/contract/similar-names'
import { z } from 'zod'
import type { ApiClient } from './api-client.ts'
import type { Problem } from './cli-error.ts'

export async function explainProblem(problem: Problem, server: ApiClient): Promise<string> {
  const { missing, detail } = problem
  const text = (missing ? await explainMissing(missing, server) : await explainFields(problem)) ?? nameCommands(detail)
  const advice = problem.code === 'unauthorized' ? ' (set --key or REASONING_GYM_API_KEY)' : ''
  return `${text.replace(/\.$/, '')}${advice} [${problem.code}]`
}

/** What the server does not list in its error: where it does, in which field of which entries, and the command that prints them. */
const LISTS: Record<string, [path: string, list: string, field: string, command: string]> = {
  run: ['/runs?archived=true&limit=200', 'runs', 'run', 'runs list'],
  eval: ['/eval', 'evals', 'id', 'eval list'],
}

/** Names something similar that exists, or the command that lists what does. */
async function explainMissing(
  { kind, name }: NonNullable<Problem['missing']>,
  server: ApiClient,
): Promise<string | undefined> {
  if (LISTS[kind] === undefined) return undefined
  const [path, list, field, command] = LISTS[kind]
  const suggestion = formatSuggestion(name, await listNames(server, path, list, field))
  const advice = suggestion || `"reasoning-gym-server ${command}${server.options}" lists those that exist`
  return `There is no ${kind} "${name}". ${advice}`
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

async function explainFields({ detail, fields, request }: Problem): Promise<string | undefined> {
  if (fields.length === 0) return undefined
  const said = await Promise.all(
    fields.map(async ({ path, message }) => {
      const text = message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message
      return `${nameOption(path, request)}: ${nameCommands(text)}${await suggestSetting(path, request)}`
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

/** A similar setting, if `runs set` was given an unknown one. */
async function suggestSetting(path: string, { path: url }: Problem['request']): Promise<string> {
  if (path.includes('.') || !/^\/runs\/[^/]+(?:\?|$)/.test(url)) return ''
  const { RunSettings } = await import('@reasoning-gym-server/contract/run-settings') // lazy: only for this message
  const names = Object.keys(RunSettings.shape)
  const suggestion = names.includes(path) ? '' : formatSuggestion(path, names)
  return suggestion && `. ${suggestion}`
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
