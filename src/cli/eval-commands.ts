/** What can be done with evals that are there: compare, list, show, report, cancel; and the suites. */
import { Command, Option } from 'commander'
import { z } from 'zod'
import { type ApiClient, addServerOptions, type ServerOptions, withServer } from './api-client.ts'
import { ComparisonResponse, EvalResponse, printComparison, printEval } from './eval-tables.ts'
import { formatExamples } from './option-parsers.ts'
import { printJson, printLine } from './output.ts'
import { streamBodyToStdout } from './stream-body.ts'
import { formatTable } from './table.ts'

interface EvalSubcommandOptions extends ServerOptions {
  json?: true
  run?: string
  suite?: string
  label?: string
  format?: string
}

const EXAMPLE_EVAL_ID = 'eval-0123456789abcdef0123'

export function buildEvalCompareCommand(): Command {
  return createSubcommand('compare', 'Compare two evals on one suite: the paired difference, in all and task by task.')
    .argument('<a>', 'id of an eval')
    .argument('<b>', 'id of another')
    .option('--json', 'print what the server answers')
    .addHelpText(
      'after',
      formatExamples(`reasoning-gym-server eval compare ${EXAMPLE_EVAL_ID} eval-3210fedcba9876543210`),
    )
    .action((a: string, b: string, options: EvalSubcommandOptions) =>
      withPersistentServer(options, async (server) => {
        const query = new URLSearchParams({ a, b }).toString()
        const comparison = await server.call(ComparisonResponse, 'GET', `/eval/compare?${query}`)
        await (options.json ? printJson(comparison) : printComparison(comparison))
      }),
    )
}

export function buildEvalListCommand(): Command {
  return createSubcommand('list', 'List evals, newest first; those of a run are its curve.')
    .option('--run <name>', 'only those of a run')
    .option('--suite <name>', 'only those on a suite')
    .option('--label <text>', 'only those with a label')
    .option('--json', 'print what the server answers')
    .addHelpText('after', formatExamples('reasoning-gym-server eval list --run first --suite smoke'))
    .action((options: EvalSubcommandOptions) =>
      withPersistentServer(options, async (server) => {
        const { run, suite, label } = options
        const query = new URLSearchParams({
          ...(run && { run }),
          ...(suite && { suite }),
          ...(label && { label }),
        }).toString()
        const answer = await server.call(EvalListResponse, 'GET', `/eval?${query}`)
        if (options.json) return printJson(answer)
        const rows = answer.evals.map(
          ({ id, status, model, suite, run, step, result, difficulty_at_half, progress }) => [
            ...[id, status, model?.name, suite.name, run, step],
            difficulty_at_half == null ? result?.mean_score?.toFixed(3) : `half at ${difficulty_at_half.toFixed(3)}`,
            `${progress.done}/${progress.total}`,
          ],
        )
        await printLine(formatTable(['eval', 'status', 'model', 'suite', 'run', 'step', 'mean score', 'samples'], rows))
      }),
    )
}

const EvalListResponse = z.looseObject({
  evals: z.array(
    z.looseObject({
      id: z.string(),
      status: z.string(),
      model: z.looseObject({ name: z.string() }).nullish(),
      suite: z.looseObject({ name: z.string() }),
      run: z.string().nullish(),
      step: z.number().nullish(),
      result: z.looseObject({ mean_score: z.number().nullish() }).nullish(),
      difficulty_at_half: z.number().nullish(),
      progress: z.looseObject({ done: z.number(), total: z.number() }),
    }),
  ),
})

export function buildEvalShowCommand(): Command {
  return createSubcommand('show', 'Show an eval as it stands: its table.')
    .argument('<id>', 'id of the eval')
    .option('--json', 'print what the server answers')
    .addHelpText('after', formatExamples(`reasoning-gym-server eval show ${EXAMPLE_EVAL_ID}`))
    .action((id: string, options: EvalSubcommandOptions) =>
      withPersistentServer(options, async (server) => {
        const answer = await server.call(EvalResponse, 'GET', getEvalPath(id))
        await (options.json ? printJson(answer) : printEval(answer))
      }),
    )
}

export function buildEvalReportCommand(): Command {
  return createSubcommand('report', 'Print an eval’s report, or all its samples.')
    .argument('<id>', 'id of the eval')
    .addOption(
      new Option('--format <format>', 'html: a page with charts; markdown; samples: JSON lines')
        .choices(['html', 'markdown', 'samples'])
        .default('html'),
    )
    .addHelpText(
      'after',
      formatExamples(
        `reasoning-gym-server eval report ${EXAMPLE_EVAL_ID} > report.html`,
        `reasoning-gym-server eval report ${EXAMPLE_EVAL_ID} --format samples > samples.jsonl`,
      ),
    )
    .action((id: string, { format, ...options }: EvalSubcommandOptions) =>
      withPersistentServer(options, async (server) => {
        const path = format === 'samples' ? 'samples' : `report${format === 'markdown' ? '?format=markdown' : ''}`
        await streamBodyToStdout(await server.request('GET', `${getEvalPath(id)}/${path}`))
      }),
    )
}

export function buildEvalCancelCommand(): Command {
  return createSubcommand('cancel', 'Cancel an eval; what it has is kept, and `eval --resume` goes on.')
    .argument('<id>', 'id of the eval')
    .addHelpText('after', formatExamples(`reasoning-gym-server eval cancel ${EXAMPLE_EVAL_ID}`))
    .action((id: string, options: EvalSubcommandOptions) =>
      withPersistentServer(options, async (server) => {
        const { status } = await server.call(EvalResponse, 'DELETE', getEvalPath(id))
        await printLine(`The eval is ${status}`)
      }),
    )
}

export function buildEvalSuitesCommand(): Command {
  return createSubcommand('suites', 'List the frozen suites.')
    .option('--json', 'print what the server answers')
    .addHelpText('after', formatExamples('reasoning-gym-server eval suites'))
    .action((options: EvalSubcommandOptions) =>
      withPersistentServer(options, async (server) => {
        const answer = await server.call(SuiteListResponse, 'GET', '/eval/suites')
        if (options.json) return printJson(answer)
        const rows = answer.suites.map(({ name, items, sha256, description }) => [
          name,
          items,
          sha256.slice(0, 12),
          description,
        ])
        await printLine(formatTable(['suite', 'items', 'sha256', ''], rows))
      }),
    )
}

const SuiteListResponse = z.looseObject({
  suites: z.array(
    z.looseObject({ name: z.string(), items: z.number(), sha256: z.string(), description: z.string().optional() }),
  ),
})

function createSubcommand(name: string, what: string): Command {
  return addServerOptions(new Command(name)).description(what)
}

function withPersistentServer(options: ServerOptions, use: (server: ApiClient) => Promise<void>): Promise<void> {
  return withServer(options, { keeps: true }, use)
}

function getEvalPath(id: string): string {
  return `/eval/${encodeURIComponent(id)}`
}
