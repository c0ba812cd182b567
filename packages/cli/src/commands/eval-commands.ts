/** The subcommands of `eval` that read, cancel or delete existing evals, and `eval suites`. */

import { Eval, EvalComparison } from '@reasoning-gym-server/contract/eval'
import { SuiteSummary } from '@reasoning-gym-server/contract/suite'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { CliCommand } from '../command.ts'
import { EvalList, formatStatus, printComparison, printReport } from '../eval-tables.ts'
import { printJson, printLine, printNext, printStatus, streamBodyToStdout } from '../output.ts'
import { dropEmptyColumns, formatTable, type TableCell } from '../table.ts'
import type { WithServer } from '../with-server.ts'

interface EvalSubcommandOptions {
  json?: true
  run?: string
  suite?: string
  label?: string
}

interface EvalReportOptions {
  json?: true
  format: string
  dataset?: string
  taskId?: string
}

const EXAMPLE_EVAL_ID = 'eval-0123456789abcdef0123'

export function buildEvalSubcommands(withServer: WithServer): Command[] {
  return [
    buildEvalCompareCommand(withServer),
    buildEvalListCommand(withServer),
    buildEvalReportCommand(withServer),
    buildEvalCancelCommand(withServer),
    buildEvalDeleteCommand(withServer),
    buildEvalSuitesCommand(withServer),
  ]
}

function buildEvalCompareCommand(withServer: WithServer): Command {
  return new CliCommand('compare')
    .summary('Compare two evals')
    .description(
      'Compare two evals on the same suite: the paired difference of their scores, overall and for each task.',
    )
    .argument('<a>', 'ID of the first eval')
    .argument('<b>', 'ID of the second eval, whose scores are subtracted')
    .option('--json', 'print the server’s JSON response')
    .examples([`reasoning-gym-server eval compare ${EXAMPLE_EVAL_ID} eval-3210fedcba9876543210`])
    .callServer(withServer, async (server, a: string, b: string, options: EvalSubcommandOptions) => {
      const query = new URLSearchParams({ a, b }).toString()
      const comparison = await server.call(EvalComparison, 'GET', `/eval/compare?${query}`)
      await (options.json ? printJson(comparison) : printComparison(comparison, server.url))
    })
}

function buildEvalListCommand(withServer: WithServer): Command {
  return new CliCommand('list')
    .summary('List evals')
    .description('List evals, newest first. The evals of one run form its learning curve.')
    .option('--run <name>', 'list only evals of this run')
    .option('--suite <name>', 'list only evals on this suite')
    .option('--label <text>', 'list only evals with this label')
    .option('--json', 'print the server’s JSON response')
    .examples(['reasoning-gym-server eval list --run first --suite smoke'])
    .callServer(withServer, async (server, options: EvalSubcommandOptions) => {
      const { run, suite, label } = options
      const query = new URLSearchParams({
        ...(run && { run }),
        ...(suite && { suite }),
        ...(label && { label }),
      }).toString()
      const answer = await server.call(EvalList, 'GET', `/eval?${query}`)
      if (options.json) return printJson(answer)
      if (answer.evals.length === 0)
        return printStatus(query === '' ? 'There is no eval yet' : 'No eval matches these filters')
      const rows = answer.evals.map((each): TableCell[] => {
        const { id, status, model, suite, run, step, result, difficulty_at_half, progress } = each
        return [
          id,
          formatStatus(status),
          model?.name,
          suite.name,
          run,
          step,
          difficulty_at_half == null ? result?.mean_score?.toFixed(3) : `50% at ${difficulty_at_half.toFixed(3)}`,
          `${progress.done}/${progress.total}`,
        ]
      })
      const head = ['eval', 'status', 'model', 'suite', 'run', 'step', 'mean score', 'samples']
      await printLine(formatTable(...dropEmptyColumns(head, rows)))
      const [newest, before] = answer.evals.filter(({ status }) => status === 'done')
      if (newest === undefined) return
      const others = before ? `compare ${before.id} ${newest.id}` : `report ${newest.id}`
      printNext(server, { page: '/evals', next: `reasoning-gym-server eval ${others}` })
    })
}

function buildEvalReportCommand(withServer: WithServer): Command {
  return new CliCommand('report')
    .summary('Print the report or the samples of an eval')
    .description(
      'Print the report of an eval, or all its samples. While the eval runs, the report holds the results so far.',
    )
    .argument('<id>', 'ID of the eval')
    .addOption(
      new Option(
        '--format <format>',
        'markdown: tables; samples: one JSON line per sample; eval-results: YAML for the model’s repository on the Hugging Face hub',
      )
        .choices(['markdown', 'samples', 'eval-results'])
        .default('markdown'),
    )
    .option('--dataset <id>', 'ID of the benchmark on the hub, for eval-results')
    .option('--task-id <id>', 'task of the benchmark, for eval-results (default: the name of the suite)')
    .option('--json', 'print the server’s JSON response')
    .examples([
      `reasoning-gym-server eval report ${EXAMPLE_EVAL_ID} > report.md`,
      `reasoning-gym-server eval report ${EXAMPLE_EVAL_ID} --format samples > samples.jsonl`,
      `reasoning-gym-server eval report ${EXAMPLE_EVAL_ID} --format eval-results --dataset my-org/my-benchmark > results.yaml`,
    ])
    .callServer(withServer, async (server, id: string, { json, format, dataset, taskId }: EvalReportOptions) => {
      if (json || format === 'markdown') {
        const answer = await server.call(Eval, 'GET', getEvalPath(id))
        return json ? printJson(answer) : printReport(server, answer)
      }
      const benchmark = new URLSearchParams({ ...(dataset && { dataset }), ...(taskId && { task_id: taskId }) })
      const part = format === 'samples' ? 'samples' : `hub-results?${benchmark.toString()}`
      await streamBodyToStdout(await server.request('GET', `${getEvalPath(id)}/${part}`))
    })
}

function buildEvalCancelCommand(withServer: WithServer): Command {
  return new CliCommand('cancel')
    .summary('Cancel an eval')
    .description('Cancel an eval. The server keeps the finished samples, and "eval --resume" continues from them.')
    .argument('<id>', 'ID of the eval')
    .examples([`reasoning-gym-server eval cancel ${EXAMPLE_EVAL_ID}`])
    .callServer(withServer, async (server, id: string) => {
      const { status } = await server.call(Eval, 'DELETE', getEvalPath(id))
      await printLine(`The eval’s status is now ${status}`)
    })
}

function buildEvalDeleteCommand(withServer: WithServer): Command {
  return new CliCommand('delete')
    .summary('Delete an eval that has ended')
    .description('Delete an eval that has ended, with its result and its samples.')
    .argument('<id>', 'ID of the eval')
    .examples([`reasoning-gym-server eval delete ${EXAMPLE_EVAL_ID}`])
    .callServer(withServer, async (server, id: string) => {
      await server.call(Eval, 'DELETE', `${getEvalPath(id)}?ended=true`)
      await printLine(`Deleted eval ${id}`)
    })
}

function buildEvalSuitesCommand(withServer: WithServer): Command {
  return new CliCommand('suites')
    .summary('List the frozen suites')
    .description(
      'List the frozen suites with their number of items. --json also prints their content hashes and whole descriptions.',
    )
    .option('--json', 'print the server’s JSON response')
    .examples(['reasoning-gym-server eval suites'])
    .callServer(withServer, async (server, options: EvalSubcommandOptions) => {
      const answer = await server.call(SuiteList, 'GET', '/eval/suites')
      if (options.json) return printJson(answer)
      const rows = answer.suites.map(({ name, items, description }) => [name, items, description])
      await printLine(formatTable(['suite', 'items', 'description'], rows))
      printNext(server, { next: 'reasoning-gym-server eval --suite smoke --model NAME --base-url URL' })
    })
}

const SuiteList = z.object({ suites: z.array(SuiteSummary) })

function getEvalPath(id: string): string {
  return `/eval/${encodeURIComponent(id)}`
}
