/** The options that say which model is asked, and how. */
import { type Command, InvalidArgumentError } from 'commander'
import { readConfig } from '../platform/config.ts'
import { CliError } from './cli-error.ts'
import { integerParser, parseJsonObject } from './option-parsers.ts'

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

export function addModelOptions(command: Command): Command {
  return command
    .option('--model <name>', 'the model, as its server knows it')
    .option('--base-url <url>', 'its OpenAI-compatible server, with /v1 where it has it')
    .option('--api-key <key>', 'its key (MODEL_API_KEY); never shown again, forgotten at the end')
    .option('--temperature <number>', 'null leaves it out; else 0.1 for one sample, 1 for more', parseTemperature)
    .option('--max-tokens <count>', 'limit of a completion', integerParser(1))
    .option('--top-p <number>', 'nucleus sampling', parseNonNegative)
    .option('--request <json>', 'more fields of each request', parseJsonObject)
    .option('--sample-seed <number>', 'sample k of an item is asked for with this seed + k', integerParser())
    .option('--concurrency <count>', 'requests in flight', integerParser(1), 16)
    .option('--timeout <seconds>', 'of one request', parseNonNegative)
    .option('--retries <count>', 'of a request that failed in a way that may pass', integerParser())
}

/** The fields of POST /eval and of POST /runs/{run}/collect that these options spell. */
export function buildModelRequest(options: ModelOptions): object {
  const { model, baseUrl, temperature, maxTokens, topP, request, sampleSeed, concurrency, timeout, retries } = options
  if (model === undefined || baseUrl === undefined)
    throw new CliError('Name the model with --model and where it is with --base-url', { exitCode: 2 })
  const api_key = getModelApiKey(options)
  return {
    model: { name: model, base_url: baseUrl, ...(api_key !== undefined && { api_key }) },
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

export function getModelApiKey({ apiKey }: ModelOptions): string | undefined {
  return apiKey ?? readConfig().MODEL_API_KEY
}

/** A server that is started for this command may call the model that it was started for. */
export function buildModelServerEnv({ baseUrl }: { baseUrl?: string | undefined }): Record<string, string> {
  const host = baseUrl === undefined ? '' : (URL.parse(baseUrl)?.hostname.replace(/^\[|\]$/g, '') ?? '')
  return { MODEL_HOSTS: [...readConfig().MODEL_HOSTS, ...(host === '' ? [] : [host])].join(',') }
}

function parseTemperature(text: string): number | null {
  return text === 'null' ? null : parseNonNegative(text)
}

function parseNonNegative(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0)) throw new InvalidArgumentError('It must be a number from 0.')
  return value
}
