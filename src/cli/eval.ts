/** `eval`: a model measured on a suite; two evals compared. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { type ApiClient, addServerOptions, type ServerOptions, withServer } from './api-client.ts'
import { CliError } from './cli-error.ts'
import {
  buildEvalCancelCommand,
  buildEvalCompareCommand,
  buildEvalListCommand,
  buildEvalReportCommand,
  buildEvalShowCommand,
  buildEvalSuitesCommand,
} from './eval-commands.ts'
import { EvalResponse, printEval } from './eval-tables.ts'
import { watchGenerationJob } from './generation-job.ts'
import {
  addModelOptions,
  buildModelRequest,
  buildModelServerEnv,
  getModelApiKey,
  type ModelOptions,
} from './mock-model-options.ts'
import { appendValue, formatExamples, integerParser, parseUnitInterval } from './option-parsers.ts'
import { printJson, printLine, printStatus } from './output.ts'

interface EvalOptions extends ServerOptions, ModelOptions {
  suite?: string
  task?: string[]
  items?: number
  difficulty?: number
  seed: number
  samples: number
  extraction?: string
  scoring?: string
  dualFormat: boolean
  systemPrompt?: string
  run?: string
  step?: number
  label?: string[]
  minScore?: number
  resume?: string
  detach?: true
  json?: true
}

const DEFAULT_ITEMS = 5

export function buildEvalCommand(): Command {
  return addModelOptions(addServerOptions(new Command('eval')))
    .summary('A model measured on a suite; two evals compared')
    .description(
      'Measure an OpenAI-compatible model on a suite, or on tasks of your choice. Ctrl-C cancels; --resume goes on.',
    )
    .option(
      '--suite <name>',
      'a frozen suite (`eval suites` lists them); run: the tasks of --run; frontier: finds the difficulty at which the model gets half right',
    )
    .option(
      '--task <name>',
      'in place of a suite, or with --suite frontier: a task or category:NAME; may be repeated',
      appendValue,
    )
    .option('--items <count>', 'items of each task; none: 5, or 20 with --suite frontier', integerParser(1))
    .option('--difficulty <number>', 'of these items; none: the library’s defaults', parseUnitInterval)
    .option('--seed <number>', 'of these items', integerParser(), 0)
    .option('--samples <count>', 'completions of each item', integerParser(1), 1)
    .addOption(
      new Option('--extraction <rule>', 'how the answer is read').choices([
        'strict',
        'last_tag',
        'tag_or_boxed',
        'bare',
      ]),
    )
    .addOption(new Option('--scoring <mode>', 'whose score').choices(['upstream', 'hardened']))
    .option('--no-dual-format', 'score the answer bare only')
    .option('--system-prompt <text>', 'in place of the server’s; null: none')
    .option('--run <name>', 'a training run: its prompt and rules, and this is a point of its curve')
    .option('--step <number>', 'of the training', integerParser())
    .option('--label <text>', 'to find it again; may be repeated', appendValue)
    .option('--min-score <number>', 'exit code 1 if the mean score is lower', parseNumber)
    .option('--resume <id>', 'go on with an eval that was cancelled or has failures')
    .option('--detach', 'print its id and leave it to the server')
    .option('--json', 'print what the server answers')
    .addHelpText(
      'after',
      formatExamples(
        'reasoning-gym-server eval --model mock --base-url http://127.0.0.1:8100/v1 --suite smoke',
        'reasoning-gym-server eval --model M --base-url U --suite easy --samples 4 --min-score 0.5',
        'reasoning-gym-server eval --model M --base-url U --task gcd --task category:games --items 20 --difficulty 0.5',
        'reasoning-gym-server eval --model M --base-url U --suite frontier --task category:logic',
        'reasoning-gym-server eval --resume eval-0123456789abcdef0123',
        'reasoning-gym-server eval compare eval-0123456789abcdef0123 eval-3210fedcba9876543210',
      ),
    )
    .action(runEval)
    .addCommand(buildEvalCompareCommand())
    .addCommand(buildEvalListCommand())
    .addCommand(buildEvalShowCommand())
    .addCommand(buildEvalReportCommand())
    .addCommand(buildEvalCancelCommand())
    .addCommand(buildEvalSuitesCommand())
}

async function runEval(options: EvalOptions): Promise<void> {
  const body = options.resume === undefined ? buildEvalRequest(options) : undefined
  const keeping = { keeps: true, env: buildModelServerEnv(options) }
  await withServer(options, keeping, async (server) => {
    const { id } = await startEval(server, options, body)
    if (options.detach) return printLine(id)
    printStatus(`Eval ${id}`)
    const resume = `reasoning-gym-server eval --resume ${id}`
    await watchGenerationJob(server, { path: `/eval/${id}`, unit: 'samples', resume })
    const answer = await server.call(EvalResponse, 'GET', `/eval/${id}`)
    await (options.json ? printJson(answer) : printEval(answer))
    checkEvalResult(answer, options.minScore)
  })
}

const StartedEval = z.looseObject({ id: z.string() })

function startEval(
  server: ApiClient,
  options: EvalOptions,
  body: object | undefined,
): Promise<z.infer<typeof StartedEval>> {
  if (body) return server.callWithRetry(StartedEval, 'POST', '/eval', body)
  const api_key = getModelApiKey(options)
  const id = encodeURIComponent(options.resume ?? '')
  return server.callWithRetry(StartedEval, 'POST', `/eval/${id}/resume`, api_key === undefined ? {} : { api_key })
}

function buildEvalRequest(options: EvalOptions): object {
  const { extraction, scoring, dualFormat, systemPrompt, run, step, label, samples } = options
  return {
    ...buildModelRequest(options),
    suite: buildSuiteField(options),
    samples_per_item: samples,
    ...(extraction !== undefined && { extraction }),
    ...(scoring !== undefined && { scoring }),
    ...(!dualFormat && { dual_format: false }),
    ...(systemPrompt !== undefined && { system_prompt: systemPrompt === 'null' ? null : systemPrompt }),
    ...(run !== undefined && { run }),
    ...(step !== undefined && { step }),
    ...(label && { labels: label }),
  }
}

function buildSuiteField({ suite, task, items, difficulty, seed }: EvalOptions): unknown {
  if (suite === 'frontier') return { mode: 'frontier', ...(task && { tasks: task }), ...(items && { n: items }), seed }
  if (!task) return suite ?? 'original'
  if (suite !== undefined) throw new CliError('Give either --suite or --task', { exitCode: 2 })
  return { tasks: task, n: items ?? DEFAULT_ITEMS, seed, ...(difficulty !== undefined && { difficulty }) }
}

/** What did not end well, or scored too little, is exit code 1. */
function checkEvalResult({ status, detail, result }: EvalResponse, least: number | undefined): void {
  if (status !== 'done') throw new CliError(`The eval is ${status}${detail ? `: ${detail}` : ''}`)
  const mean = result?.mean_score ?? null
  if (mean === null) throw new CliError('No sample has a score: see the failures above')
  if (least !== undefined && mean < least) throw new CliError(`The mean score is ${mean.toFixed(4)}, below ${least}`)
}

function parseNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.')
  return value
}
