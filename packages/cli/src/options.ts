/** Options that several commands share, and the parsers of their values. */
import { readClientConfig } from '@reasoning-gym-server/contract/environment'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { CliError } from './cli-error.ts'
import type { ServerOptions } from './with-server.ts'

export interface ModelOptions {
  model?: string
  baseUrl?: string
  apiKey?: string
  temperature?: number | null
  maxTokens?: number
  topP?: number
  request?: Record<string, unknown>
  sampleSeed?: number
  concurrency: number
  timeout?: number
  retries?: number
}

export function addModelOptions<Kind extends Command>(command: Kind): Kind {
  return addOptionGroup(command, [
    ['--model <name>', 'name of the model in its API'],
    ['--base-url <url>', 'base URL of the model’s OpenAI-compatible API, including /v1 if the API has it'],
    [
      '--api-key <key>',
      'API key of the model (env: MODEL_API_KEY); the server never returns it and deletes it when the job ends',
    ],
    [
      '--temperature <number>',
      'sampling temperature; null omits it from requests (server default: 0.1 for evals with one sample per item, otherwise 1)',
      parseTemperature,
    ],
    ['--max-tokens <count>', 'maximum number of tokens per completion (default: the model’s)', integerParser(1)],
    ['--top-p <number>', 'nucleus sampling parameter, from 0 to 1 (default: the model’s)', parseNonNegative],
    ['--request <json>', 'JSON object of additional fields for each request to the model', parseJsonObject],
    [
      '--sample-seed <number>',
      'sampling seed: sample k of an item is requested with this seed + k (default: none)',
      integerParser(),
    ],
    ['--concurrency <count>', 'maximum number of requests in flight, up to 256', integerParser(1), 16],
    ['--timeout <seconds>', 'timeout of one request, in seconds (server default: 600)', parseNonNegative],
    ['--retries <count>', 'number of retries after a transient failure (server default: 5)', integerParser()],
  ])
}

type OptionDeclaration = [flags: string, description: string, parse?: (text: string) => unknown, preset?: unknown]

function addOptionGroup<Kind extends Command>(command: Kind, declarations: OptionDeclaration[]): Kind {
  for (const [flags, description, parse, preset] of declarations) {
    const option = new Option(flags, description).helpGroup('Model options:')
    if (parse) option.argParser(parse)
    if (preset !== undefined) option.default(preset)
    command.addOption(option)
  }
  return command
}

/** The fields of `POST /eval` and `POST /runs/{run}/collect` that these options set. */
interface ModelRequest extends Record<string, unknown> {
  model: { name: string; base_url: string; api_key?: string }
}

export function buildModelRequest(options: ModelOptions): ModelRequest {
  const { model, baseUrl, temperature, maxTokens, topP, request, sampleSeed, concurrency, timeout, retries } = options
  if (model === undefined || baseUrl === undefined)
    throw new CliError('Set --model to the name of the model and --base-url to the address of its API', { exitCode: 2 })
  return {
    model: { name: model, base_url: baseUrl, ...buildResumeRequest(options) },
    concurrency,
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(topP !== undefined && { top_p: topP }),
    ...(request && { request }),
    ...(sampleSeed !== undefined && { seed: sampleSeed }),
    ...(timeout !== undefined && { timeout_s: timeout }),
    ...(retries !== undefined && { retries }),
  }
}

/** The body of the request that resumes a job, whose key the server has deleted. */
export function buildResumeRequest({ apiKey }: ModelOptions): { api_key?: string } {
  const api_key = apiKey ?? readClientConfig().MODEL_API_KEY
  return api_key === undefined ? {} : { api_key }
}

/** The hosts of the models, which a temporary server may call even if they have private addresses. */
export function listModelHosts(...baseUrls: (string | undefined)[]): string[] {
  return baseUrls.flatMap((url) => URL.parse(url ?? '')?.hostname.replace(/^\[|\]$/g, '') || [])
}

function parseTemperature(text: string): number | null {
  return text === 'null' ? null : parseNonNegative(text)
}

export interface RecipeOptions {
  seed: number
  difficulty?: number
  config?: Record<string, unknown>
}

export function addRecipeOptions<Kind extends Command>(command: Kind): Kind {
  return command
    .option('--seed <number>', 'seed of the item, or of the first of several items', integerParser(), 42)
    .addOption(
      new Option(
        '--difficulty <number>',
        'difficulty from 0 (easiest) to 1 (hardest), which selects a rung of the task’s ladder (default: the config defaults of the library)',
      )
        .argParser(parseUnitInterval)
        .conflicts('config'),
    )
    .option(
      '--config <json>',
      'config fields as a JSON object; fields that you omit keep their defaults',
      parseJsonObject,
    )
}

/** The recipe fields that these options set, without the seed. */
export function buildRecipeFields({ difficulty, config }: RecipeOptions): object {
  return { ...(difficulty !== undefined && { difficulty }), ...(config && { config }) }
}

export const DUAL_FORMAT_DESCRIPTION =
  'score the answer only as it stands; by default it is also scored wrapped in answer tags, and the higher score counts'

/** `more`: what follows the description, such as the default of a server. */
export function createExtractionOption(more = ''): Option {
  const description =
    'how to find the answer in a completion. strict: in exactly one pair of answer tags; last_tag: in the last pair; tag_or_boxed: in tags or in \\boxed{}; bare: the whole completion'
  const rules = ['strict', 'last_tag', 'tag_or_boxed', 'bare']
  return new Option('--extraction <rule>', `${description}${more}`).choices(rules)
}

export function createScoringOption(more = ''): Option {
  const description = 'upstream: the scores of the library; hardened: the same with known reward hacks closed'
  return new Option('--scoring <mode>', `${description}${more}`).choices(['upstream', 'hardened'])
}

export function createFeedbackOption(description: string): Option {
  return new Option('--feedback <level>', description).choices(['none', 'format', 'rule'])
}

/** The options of commands that start a job on the server. */
export interface JobOptions extends ServerOptions {
  resume?: string
  detach?: true
  json?: true
}

export const parseNumber = numberParser('a number', -Number.MAX_VALUE, Number.MAX_VALUE)
export const parseUnitInterval = numberParser('a number from 0 to 1', 0, 1)
const parseNonNegative = numberParser('a number, 0 or greater', 0, Number.MAX_VALUE)

function numberParser(expected: string, least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (text.trim() === '' || !(value >= least && value <= most))
      throw new InvalidArgumentError(`Expected ${expected}.`)
    return value
  }
}

export function integerParser(least = 0): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value) || value < least)
      throw new InvalidArgumentError(`Expected a whole number, ${least} or greater.`)
    return value
  }
}

export function parseJsonObject(text: string): Record<string, unknown> {
  const value = parseValue(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidArgumentError('Expected a JSON object, for example \'{"max_animals": 5}\'.')
  return { ...value }
}

/** Collects the values of an option that may be repeated. */
export function appendValue(value: string, before: string[] = []): string[] {
  return [...before, value]
}

/** Reads `name=value`, where the value is JSON or else text. */
export function parseSetting(text: string): [string, unknown] {
  const at = text.indexOf('=')
  if (at < 1) throw new CliError(`Cannot read "${text}": write each setting as name=value`, { exitCode: 2 })
  return [text.slice(0, at), parseValue(text.slice(at + 1))]
}

/** Reads a value as JSON, or as text if it is not valid JSON. */
export function parseValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
