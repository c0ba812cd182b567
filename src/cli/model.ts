/** `model`: a pretend OpenAI-compatible model, for demos, tests and CI without a GPU. */
import { once } from 'node:events'
import { Command, InvalidArgumentError } from 'commander'
import { readConfig } from '../config.ts'
import type { Accuracy } from '../pretend-model/behaviour.ts'
import { Failure } from './failure.ts'
import { interruption } from './interrupt.ts'
import { examples, share, whole } from './options.ts'
import { printLine } from './output.ts'
import { hereOf, namedServer, type ServerOptions } from './server.ts'

interface Options extends ServerOptions {
  host: string
  port: number
  accuracy: number
  accuracyAtHardest?: number
  task?: Record<string, Accuracy>
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

export function model(): Command {
  return new Command('model')
    .summary('A pretend model, for demos and tests without a GPU')
    .description(
      'Serve a pretend OpenAI-compatible model. It asks a server for the answer and is right as often as it is told to be.',
    )
    .option('--url <url>', 'the server whose items it knows (SERVER_URL); else the one at HOST:PORT')
    .option('--key <key>', 'a key of that server with the admin role, where it has keys (SERVER_KEY)')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0: any free one', whole(), 8100)
    .option('--accuracy <share>', 'chance of a right answer', share, 0.6)
    .option('--accuracy-at-hardest <share>', 'the same at difficulty 1; straight between', share)
    .option(
      '--task <name=share>',
      'another chance for a task: NAME=0.9, or NAME=0.9:0.2 (easiest:hardest)',
      taskAccuracy,
    )
    .option('--seed <number>', 'another seed, other luck', whole(), 0)
    .option('--format-faults <share>', 'completions without an answer that can be read', share, 0)
    .option('--truncations <share>', 'completions cut in the middle', share, 0)
    .option('--rejections <share>', 'items for which every request is refused with 400', share, 0)
    .option('--rate-limits <share>', 'requests answered 429', share, 0)
    .option('--retry-after <seconds>', 'Retry-After of a 429', whole(), 1)
    .option('--server-errors <share>', 'requests answered 500', share, 0)
    .option('--broken-json <share>', 'requests answered with half a JSON document', share, 0)
    .option('--closed-connections <share>', 'requests whose connection is closed', share, 0)
    .option('--slow <share>', 'requests that take longer', share, 0)
    .option('--slow-ms <ms>', 'how much longer', whole(), 2000)
    .option('--latency-ms <ms>', 'what every answer takes at least', whole(), 0)
    .option('--mean-tokens <count>', 'tokens of thinking, about', whole(10), 120)
    .option('--reasoning <where>', 'inline (in <think> tags), reasoning or reasoning_content (a field), none', 'inline')
    .option('--api-key <key>', 'what its callers must send')
    .addHelpText(
      'after',
      examples(
        'reasoning-gym-server model --accuracy 0.6',
        'reasoning-gym-server model --accuracy 0.9 --accuracy-at-hardest 0.2 --task gcd=1 --format-faults 0.1',
        'reasoning-gym-server model --rate-limits 0.1 --server-errors 0.05 --closed-connections 0.05 --slow 0.1',
      ),
    )
    .action(run)
}

async function run(options: Options): Promise<void> {
  const { url: _url, key: _key, slow, retryAfter, task, ...rest } = options
  const config = readConfig()
  const { url = hereOf(config), key } = namedServer(options, config)
  const server = { url, ...(key !== undefined && { key }) }
  const given = { ...rest, server, ...(task && { tasks: task }), slowRequests: slow, retryAfterS: retryAfter }
  const { startPretendModel } = await import('../pretend-model/pretend-model.ts') // with its HTTP server, which other commands need not load
  const model = await startPretendModel(given).catch((cause: unknown) => {
    throw new Failure(cannotStart(options, cause), { cause })
  })
  await printLine(
    `The pretend model is at ${model.url} and asks ${url}; what it was asked: ${model.url.replace('/v1', '/tally')}`,
  )
  await once(interruption(), 'abort')
  await model.close()
}

function cannotStart({ host, port }: Options, cause: unknown): string {
  const { code, message } =
    cause instanceof Error ? (cause as NodeJS.ErrnoException) : { code: '', message: String(cause) }
  return code === 'EADDRINUSE' ? `Port ${port} of ${host} is taken: give another with --port` : message
}

function taskAccuracy(text: string, before: Record<string, Accuracy> = {}): Record<string, Accuracy> {
  const [, name, easiest, hardest] = /^([a-z0-9_]+)=([\d.]+)(?::([\d.]+))?$/.exec(text) ?? []
  if (name === undefined || easiest === undefined)
    throw new InvalidArgumentError('It must be NAME=0.9 or NAME=0.9:0.2.')
  return { ...before, [name]: { easiest: share(easiest), hardest: share(hardest ?? easiest) } }
}
