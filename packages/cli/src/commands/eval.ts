/** `eval`: evaluates a model on a suite. */

import { Eval } from '@reasoning-gym-server/contract/eval'
import type { Command } from 'commander'
import { CliError } from '../cli-error.ts'
import { CliCommand, EXIT_CODES } from '../command.ts'
import { printReport } from '../eval-tables.ts'
import { followJob } from '../generation-job.ts'
import {
  addModelOptions,
  appendValue,
  buildModelRequest,
  buildResumeRequest,
  createExtractionOption,
  createFeedbackOption,
  createScoringOption,
  DUAL_FORMAT_DESCRIPTION,
  integerParser,
  type JobOptions,
  listModelHosts,
  type ModelOptions,
  parseNumber,
  parseUnitInterval,
} from '../options.ts'
import type { WithServer } from '../with-server.ts'
import { buildEvalSubcommands } from './eval-commands.ts'

interface EvalOptions extends JobOptions, ModelOptions {
  suite?: string
  task?: string[]
  items?: number
  difficulty?: number
  seed?: number
  samples: number
  tries?: number
  feedback?: string
  extraction?: string
  scoring?: string
  dualFormat: boolean
  systemPrompt?: string
  run?: string
  step?: number
  label?: string[]
  minScore?: number
  twin?: true
}

const DEFAULT_ITEMS = 5

export function buildEvalCommand(withServer: WithServer): Command {
  const command = addModelOptions(
    new CliCommand('eval')
      .description(
        'Evaluate a model behind an OpenAI-compatible API on a frozen suite or on tasks of your choice, and print its scores. Ctrl-C cancels the eval on the server; --resume continues it. The subcommands list, report and compare evals.',
      )
      .option(
        '--suite <name>',
        'frozen suite ("eval suites" lists them); run: the tasks of --run; frontier: find the difficulty at which the model solves half of the items (default: original)',
      )
      .option(
        '--task <name>',
        'task or category:NAME to evaluate, in place of a suite or with --suite frontier; repeat the option for several',
        appendValue,
      )
      .option(
        '--twin',
        'also measure the model on a twin of the frozen suite, with new items of the same kinds, which tells memory from skill',
      )
      .option('--items <count>', 'number of items per task (default: 5, or 20 with --suite frontier)', integerParser(1))
      .option(
        '--difficulty <number>',
        'difficulty of the items of --task, from 0 to 1 (default: the config defaults of the library)',
        parseUnitInterval,
      )
      .option('--seed <number>', 'seed of the items of --task or --suite frontier (default: 0)', integerParser())
      .option('--samples <count>', 'number of completions per item', integerParser(1), 1)
      .option(
        '--tries <count>',
        'tries at an item, from 1 to 8; after a wrong one, the model reads the feedback and answers again (default: 1)',
        integerParser(1),
      )
      .addOption(createFeedbackOption('what the model reads about a wrong try (default: that of --run, or else none)'))
      .addOption(createExtractionOption(' (default: that of --run, or else strict)'))
      .addOption(createScoringOption(' (default: that of --run, or else upstream)'))
      .option('--no-dual-format', DUAL_FORMAT_DESCRIPTION)
      .option('--system-prompt <text>', 'system prompt to use in place of the server’s; null sends none')
      .option(
        '--run <name>',
        'training run whose system prompt and grading rules apply, and whose learning curve this eval belongs to',
      )
      .option('--step <number>', 'training step that this eval belongs to, with --run', integerParser())
      .option('--label <text>', 'label to store with the eval; repeat the option for several', appendValue)
      .option('--min-score <number>', 'exit with code 1 if the mean score is below this number', parseNumber)
      .option('--resume <id>', 'continue the eval with this ID, which was cancelled or has failed samples')
      .option('--detach', 'start the eval, print its ID and exit without waiting for it')
      .option('--json', 'print the server’s JSON response')
      .examples(
        [
          'reasoning-gym-server eval --model mock --base-url http://127.0.0.1:8100/v1 --suite smoke',
          'reasoning-gym-server eval --model M --base-url U --suite easy-3 --samples 4 --min-score 0.5',
          'reasoning-gym-server eval --model M --base-url U --task gcd --task category:games --items 20 --difficulty 0.5',
          'reasoning-gym-server eval --model M --base-url U --suite frontier --task category:logic',
          'reasoning-gym-server eval --resume eval-0123456789abcdef0123',
          'reasoning-gym-server eval compare eval-0123456789abcdef0123 eval-3210fedcba9876543210',
        ],
        { ...EXIT_CODES, 1: 'failure, or the mean score is below --min-score; stderr gives the reason' },
      )
      .action((options: EvalOptions) => runEval(withServer, options)),
  ).addServerOptions()
  for (const subcommand of buildEvalSubcommands(withServer)) command.addCommand(subcommand)
  return command
}

async function runEval(withServer: WithServer, options: EvalOptions): Promise<void> {
  if (options.detach && options.minScore !== undefined)
    throw new CliError('--min-score needs the score, for which --detach does not wait', { exitCode: 2 })
  const body = options.resume === undefined ? buildEvalRequest(options) : buildResumeRequest(options)
  await withServer(options, { keeps: true, modelHosts: listModelHosts(options.baseUrl) }, async (server) => {
    const job = await followJob(server, {
      name: 'eval',
      path: '/eval',
      view: Eval,
      body,
      resumeCommand: 'reasoning-gym-server eval --resume',
      options,
      print: (view) => printReport(server, view),
    })
    if (job) checkMeanScore(job, options.minScore)
  })
}

function buildEvalRequest(options: EvalOptions): object {
  const { extraction, scoring, dualFormat, systemPrompt, run, step, label, samples, twin, tries, feedback } = options
  return {
    ...buildModelRequest(options),
    suite: buildSuiteField(options),
    ...(twin && { twin }),
    samples_per_item: samples,
    ...(tries !== undefined && { tries }),
    ...(feedback !== undefined && { feedback }),
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
  const isFrontier = suite === 'frontier'
  if (isFrontier ? difficulty !== undefined : !task && (items ?? difficulty ?? seed) !== undefined)
    throw new CliError(
      'A suite has its own items: --difficulty is for --task, and so are --items and --seed, except with --suite frontier',
      { exitCode: 2 },
    )
  if (isFrontier) return { mode: 'frontier', ...(task && { tasks: task }), ...(items && { n: items }), seed: seed ?? 0 }
  if (!task) return suite ?? 'original'
  if (suite !== undefined) throw new CliError('Set either --suite or --task, not both', { exitCode: 2 })
  return { tasks: task, n: items ?? DEFAULT_ITEMS, seed: seed ?? 0, ...(difficulty !== undefined && { difficulty }) }
}

/** Throws if the eval has no score, or scored less than `least`. The command then exits with code 1. */
function checkMeanScore({ result }: Eval, least: number | undefined): void {
  const mean = result?.mean_score ?? null
  if (mean === null) throw new CliError('No sample has a score. The failures are listed above')
  if (least !== undefined && mean < least)
    throw new CliError(`The mean score ${mean.toFixed(4)} is below ${least}, the value of --min-score`)
}
