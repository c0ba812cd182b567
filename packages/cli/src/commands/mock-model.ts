/** `mock-model`: serves a mock OpenAI-compatible model for demos, tests and CI without a GPU. */

import { once } from 'node:events'
import { readClientConfig } from '@reasoning-gym-server/contract/environment'
import type { AccuracyRange } from '@reasoning-gym-server/mock-model/behavior'
import type { MockModelOptions } from '@reasoning-gym-server/mock-model/mock-model'
import { type Command, InvalidArgumentError } from 'commander'
import { CliError } from '../cli-error.ts'
import { CliCommand, PROCESS_EXIT_CODES } from '../command.ts'
import { getInterruptSignal } from '../interrupt-signal.ts'
import { integerParser, parseUnitInterval } from '../options.ts'
import { printLine } from '../output.ts'
import { getConfiguredServer, getLocalUrl, type ServerOptions } from '../with-server.ts'

interface MockModelCommandOptions
  extends ServerOptions,
    Omit<MockModelOptions, 'server' | 'tasks' | 'slowRequests' | 'retryAfterS'> {
  task?: MockModelOptions['tasks']
  slow: number
  retryAfter: number
}

/** A command whose options with a share, from 0 to 1, look alike. */
class MockModelCommand extends CliCommand {
  share(name: string, description: string): this {
    return this.option(`${name} <share>`, `share of ${description}, from 0 to 1`, parseUnitInterval, 0)
  }
}

export function buildModelCommand(): Command {
  return new MockModelCommand('mock-model')
    .description(
      'Serve a mock model behind an OpenAI-compatible API. It looks up the reference answers on a reasoning-gym-server and answers correctly with the probability that you set. Other options simulate malformed completions, errors and latency.',
    )
    .option(
      '--url <url>',
      'URL of the server to look up answers on (env: REASONING_GYM_URL; default: the server at HOST:PORT)',
    )
    .option(
      '--key <key>',
      'API key of that server, with the admin role (env: REASONING_GYM_API_KEY); required if the server has keys',
    )
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 picks a free port', integerParser(), 8100)
    .option('--accuracy <share>', 'probability of a correct answer, from 0 to 1', parseUnitInterval, 0.6)
    .option(
      '--accuracy-at-hardest <share>',
      'probability of a correct answer at difficulty 1; between difficulties 0 and 1 it is interpolated linearly (default: --accuracy)',
      parseUnitInterval,
    )
    .option(
      '--task <name=share>',
      'probability for one task, as NAME=0.9, or as NAME=0.9:0.2 for difficulties 0 and 1; repeat the option for several tasks',
      parseTaskAccuracy,
    )
    .option('--seed <number>', 'seed of all random decisions', integerParser(), 0)
    .share('--format-faults', 'completions without an answer that can be extracted')
    .share('--truncations', 'completions that are truncated')
    .share('--rejections', 'items for which every request returns 400')
    .share('--rate-limits', 'requests that return 429')
    .option('--retry-after <seconds>', 'Retry-After header of a 429, in seconds', integerParser(), 1)
    .share('--server-errors', 'requests that return 500')
    .share('--broken-json', 'requests that return half of a JSON document')
    .share('--closed-connections', 'requests whose connection is closed')
    .share('--slow', 'requests that are delayed by --slow-ms')
    .option('--slow-ms <ms>', 'delay of slow requests, in milliseconds', integerParser(), 2000)
    .option('--latency-ms <ms>', 'minimum time to a response, in milliseconds', integerParser(), 0)
    .option('--mean-tokens <count>', 'approximate number of reasoning tokens per completion', integerParser(10), 120)
    .option(
      '--reasoning <where>',
      'where the reasoning goes: inline (in <think> tags), reasoning or reasoning_content (a field of that name), or none',
      'inline',
    )
    .option('--api-key <key>', 'API key that callers must send (default: none)')
    .examples(
      [
        'reasoning-gym-server mock-model --accuracy 0.6',
        'reasoning-gym-server mock-model --accuracy 0.9 --accuracy-at-hardest 0.2 --task gcd=1 --format-faults 0.1',
        'reasoning-gym-server mock-model --rate-limits 0.1 --server-errors 0.05 --closed-connections 0.05 --slow 0.1',
      ],
      PROCESS_EXIT_CODES,
    )
    .action(runModel)
}

async function runModel(options: MockModelCommandOptions): Promise<void> {
  const { url: _url, key: _key, slow, retryAfter, task, ...rest } = options
  const config = readClientConfig()
  const { url = getLocalUrl(config), key } = getConfiguredServer(options, config)
  const server = { url, ...(key !== undefined && { key }) }
  const given = { ...rest, server, ...(task && { tasks: task }), slowRequests: slow, retryAfterS: retryAfter }
  const { startMockModel } = await import('@reasoning-gym-server/mock-model/mock-model') // lazy: other commands do not need its HTTP server
  const model = await startMockModel(given).catch((cause: unknown) => {
    throw new CliError(formatStartError(options, cause), { cause })
  })
  await printLine(
    `The mock model listens at ${model.url} and looks up answers at ${url}. Request counts: ${model.url.replace('/v1', '/counts')}`,
  )
  await once(getInterruptSignal(), 'abort')
  await model.close()
}

function formatStartError({ host, port }: MockModelCommandOptions, cause: unknown): string {
  const { code, message } =
    cause instanceof Error ? (cause as NodeJS.ErrnoException) : { code: '', message: String(cause) }
  return code === 'EADDRINUSE' ? `Port ${port} on ${host} is already in use. Set another one with --port` : message
}

function parseTaskAccuracy(text: string, before: Record<string, AccuracyRange> = {}): Record<string, AccuracyRange> {
  const [, name, easiest, hardest] = /^([a-z0-9_]+)=([\d.]+)(?::([\d.]+))?$/.exec(text) ?? []
  if (name === undefined || easiest === undefined) throw new InvalidArgumentError('Expected NAME=0.9 or NAME=0.9:0.2.')
  return { ...before, [name]: { easiest: parseUnitInterval(easiest), hardest: parseUnitInterval(hardest ?? easiest) } }
}
