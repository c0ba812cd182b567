/** `eval`: a model measured on a suite; two evals compared. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { cancelEval, compareEvals, listEvals, reportEval, showEval, suites } from './eval-commands.ts'
import { EvalAnswer, printEval } from './eval-tables.ts'
import { Failure } from './failure.ts'
import { addModelOptions, askingOf, keyOf, type ModelOptions, reachOf } from './model-options.ts'
import { examples, repeated, share, whole } from './options.ts'
import { printJson, printLine, tell } from './output.ts'
import { watch } from './sampling.ts'
import { addServerOptions, type Server, type ServerOptions, withServer } from './server.ts'

interface Options extends ServerOptions, ModelOptions {
  suite?: string
  task?: string[]
  items: number
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

export function evals(): Command {
  return addModelOptions(addServerOptions(new Command('eval')))
    .summary('A model measured on a suite; two evals compared')
    .description(
      'Measure an OpenAI-compatible model on a suite, or on tasks of your choice. Ctrl-C cancels; --resume goes on.',
    )
    .option('--suite <name>', 'a frozen suite (`eval suites` lists them), or run: the tasks of --run')
    .option('--task <name>', 'in place of a suite: a task or category:NAME; may be repeated', repeated)
    .option('--items <count>', 'items of each task', whole(1), 5)
    .option('--difficulty <number>', 'of these items; none: the library’s defaults', share)
    .option('--seed <number>', 'of these items', whole(), 0)
    .option('--samples <count>', 'completions of each item', whole(1), 1)
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
    .option('--step <number>', 'of the training', whole())
    .option('--label <text>', 'to find it again; may be repeated', repeated)
    .option('--min-score <number>', 'exit code 1 if the mean score is lower', score)
    .option('--resume <id>', 'go on with an eval that was cancelled or has failures')
    .option('--detach', 'print its id and leave it to the server')
    .option('--json', 'print what the server answers')
    .addHelpText(
      'after',
      examples(
        'reasoning-gym-server eval --model pretend --base-url http://127.0.0.1:8100/v1 --suite smoke',
        'reasoning-gym-server eval --model M --base-url U --suite easy --samples 4 --min-score 0.5',
        'reasoning-gym-server eval --model M --base-url U --task gcd --task category:games --items 20 --difficulty 0.5',
        'reasoning-gym-server eval --resume eval-0123456789abcdef0123',
        'reasoning-gym-server eval compare eval-0123456789abcdef0123 eval-3210fedcba9876543210',
      ),
    )
    .action(run)
    .addCommand(compareEvals())
    .addCommand(listEvals())
    .addCommand(showEval())
    .addCommand(reportEval())
    .addCommand(cancelEval())
    .addCommand(suites())
}

async function run(options: Options): Promise<void> {
  const body = options.resume === undefined ? bodyOf(options) : undefined
  const keeping = { keeps: true, env: reachOf(options) }
  await withServer(options, keeping, async (server) => {
    const { id } = await begin(server, options, body)
    if (options.detach) return printLine(id)
    tell(`Eval ${id}`)
    const resume = `reasoning-gym-server eval --resume ${id}`
    await watch(server, { path: `/eval/${id}`, unit: 'samples', resume })
    const answer = await server.call(EvalAnswer, 'GET', `/eval/${id}`)
    await (options.json ? printJson(answer) : printEval(answer))
    judge(answer, options.minScore)
  })
}

const Begun = z.looseObject({ id: z.string() })

function begin(server: Server, options: Options, body: object | undefined): Promise<z.infer<typeof Begun>> {
  if (body) return server.insist(Begun, 'POST', '/eval', body)
  const api_key = keyOf(options)
  const id = encodeURIComponent(options.resume ?? '')
  return server.insist(Begun, 'POST', `/eval/${id}/resume`, api_key === undefined ? {} : { api_key })
}

function bodyOf(options: Options): object {
  const { extraction, scoring, dualFormat, systemPrompt, run, step, label, samples } = options
  return {
    ...askingOf(options),
    suite: suiteOf(options),
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

function suiteOf({ suite, task, items, difficulty, seed }: Options): unknown {
  if (!task) return suite ?? 'original'
  if (suite !== undefined) throw new Failure('Give either --suite or --task', { exitCode: 2 })
  return { tasks: task, n: items, seed, ...(difficulty !== undefined && { difficulty }) }
}

/** What did not end well, or scored too little, is exit code 1. */
function judge({ status, detail, result }: EvalAnswer, least: number | undefined): void {
  if (status !== 'done') throw new Failure(`The eval is ${status}${detail ? `: ${detail}` : ''}`)
  const mean = result?.mean_score ?? null
  if (mean === null) throw new Failure('No sample has a score: see the failures above')
  if (least !== undefined && mean < least) throw new Failure(`The mean score is ${mean.toFixed(4)}, below ${least}`)
}

function score(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.')
  return value
}
