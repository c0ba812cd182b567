/** `model`: a mock OpenAI-compatible model, for demos, tests and CI without a GPU. */
import { once } from 'node:events'
import { Command, InvalidArgumentError } from 'commander'
import type { AccuracyRange } from '../mock-model/behavior.ts'
import { readConfig } from '../platform/config.ts'
import { getConfiguredServer, getLocalUrl, type ServerOptions } from './api-client.ts'
import { CliError } from './cli-error.ts'
import { getInterruptSignal } from './interrupt-signal.ts'
import { formatExamples, integerParser, parseUnitInterval } from './option-parsers.ts'
import { printLine } from './output.ts'

interface MockModelCommandOptions extends ServerOptions {
  host: string
  port: number
  accuracy: number
  accuracyAtHardest?: number
  task?: Record<string, AccuracyRange>
  seed: number
  formatFaults: number
  truncations: number
  rejections: number
  rateLimits: number
  retryAfter: number
  serverErrors: number
  brokenJson: number
  closedConnections: number
  slow: number
  slowMs: number
  latencyMs: number
  meanTokens: number
  reasoning: 'inline' | 'reasoning' | 'reasoning_content' | 'none'
  apiKey?: string
}

export function buildModelCommand(): Command {
  return new Command('mock-model')
    .summary('A mock model, for demos and tests without a GPU')
    .description(
      'Serve a mock OpenAI-compatible model. It asks a server for the answer and is right as often as it is told to be.',
    )
    .option('--url <url>', 'the server whose items it knows (SERVER_URL); else the one at HOST:PORT')
    .option('--key <key>', 'a key of that server with the admin role, where it has keys (SERVER_API_KEY)')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0: any free one', integerParser(), 8100)
    .option('--accuracy <share>', 'chance of a right answer', parseUnitInterval, 0.6)
    .option('--accuracy-at-hardest <share>', 'the same at difficulty 1; straight between', parseUnitInterval)
    .option(
      '--task <name=share>',
      'another chance for a task: NAME=0.9, or NAME=0.9:0.2 (easiest:hardest)',
      parseTaskAccuracy,
    )
    .option('--seed <number>', 'another seed, other luck', integerParser(), 0)
    .option('--format-faults <share>', 'completions without an answer that can be read', parseUnitInterval, 0)
    .option('--truncations <share>', 'completions cut in the middle', parseUnitInterval, 0)
    .option('--rejections <share>', 'items for which every request is refused with 400', parseUnitInterval, 0)
    .option('--rate-limits <share>', 'requests answered 429', parseUnitInterval, 0)
    .option('--retry-after <seconds>', 'Retry-After of a 429', integerParser(), 1)
    .option('--server-errors <share>', 'requests answered 500', parseUnitInterval, 0)
    .option('--broken-json <share>', 'requests answered with half a JSON document', parseUnitInterval, 0)
    .option('--closed-connections <share>', 'requests whose connection is closed', parseUnitInterval, 0)
    .option('--slow <share>', 'requests that take longer', parseUnitInterval, 0)
    .option('--slow-ms <ms>', 'how much longer', integerParser(), 2000)
    .option('--latency-ms <ms>', 'what every answer takes at least', integerParser(), 0)
    .option('--mean-tokens <count>', 'tokens of thinking, about', integerParser(10), 120)
    .option('--reasoning <where>', 'inline (in <think> tags), reasoning or reasoning_content (a field), none', 'inline')
    .option('--api-key <key>', 'what its callers must send')
    .addHelpText(
      'after',
      formatExamples(
        'reasoning-gym-server mock-model --accuracy 0.6',
        'reasoning-gym-server mock-model --accuracy 0.9 --accuracy-at-hardest 0.2 --task gcd=1 --format-faults 0.1',
        'reasoning-gym-server mock-model --rate-limits 0.1 --server-errors 0.05 --closed-connections 0.05 --slow 0.1',
      ),
    )
    .action(runModel)
}

async function runModel(options: MockModelCommandOptions): Promise<void> {
  const { url: _url, key: _key, slow, retryAfter, task, ...rest } = options
  const config = readConfig()
  const { url = getLocalUrl(config), key } = getConfiguredServer(options, config)
  const server = { url, ...(key !== undefined && { key }) }
  const given = { ...rest, server, ...(task && { tasks: task }), slowRequests: slow, retryAfterS: retryAfter }
  const { startMockModel } = await import('../mock-model/mock-model.ts') // with its HTTP server, which other commands need not load
  const model = await startMockModel(given).catch((cause: unknown) => {
    throw new CliError(formatStartError(options, cause), { cause })
  })
  await printLine(
    `The mock model is at ${model.url} and asks ${url}; what it was asked: ${model.url.replace('/v1', '/counts')}`,
  )
  await once(getInterruptSignal(), 'abort')
  await model.close()
}

function formatStartError({ host, port }: MockModelCommandOptions, cause: unknown): string {
  const { code, message } =
    cause instanceof Error ? (cause as NodeJS.ErrnoException) : { code: '', message: String(cause) }
  return code === 'EADDRINUSE' ? `Port ${port} of ${host} is taken: give another with --port` : message
}

function parseTaskAccuracy(text: string, before: Record<string, AccuracyRange> = {}): Record<string, AccuracyRange> {
  const [, name, easiest, hardest] = /^([a-z0-9_]+)=([\d.]+)(?::([\d.]+))?$/.exec(text) ?? []
  if (name === undefined || easiest === undefined)
    throw new InvalidArgumentError('It must be NAME=0.9 or NAME=0.9:0.2.')
  return { ...before, [name]: { easiest: parseUnitInterval(easiest), hardest: parseUnitInterval(hardest ?? easiest) } }
}
