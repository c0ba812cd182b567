/** `runs`: the training runs of a server: list, show, set, delete. */
import { Command } from 'commander'
import { z } from 'zod'
import { addServerOptions, type ServerOptions, withServer } from './api-client.ts'
import { CliError } from './cli-error.ts'
import { formatExamples } from './option-parsers.ts'
import { printJson, printLine } from './output.ts'
import { buildRunRestoreCommand, buildRunSaveCommand } from './run-checkpoints.ts'
import { formatTable } from './table.ts'

interface RunsOptions extends ServerOptions {
  json?: true
  restart?: true
}

const RunTaskResponse = z.looseObject({
  difficulty: z.number().nullish(),
  accuracy: z.number().nullish(),
  groups: z.number().nullish(),
  mean_reward: z.number().nullish(),
})
const RunResponse = z.looseObject({
  run: z.string(),
  settings: z.record(z.string(), z.unknown()),
  state: z.looseObject({ is: z.string(), why: z.string().optional() }).optional(),
  progress: z.record(z.string(), z.unknown()),
  tasks: z.record(z.string(), RunTaskResponse).default({}),
})
const RunChangeResponse = z.looseObject({
  run: z.string(),
  changed: z.array(z.string()),
  restarts: z.array(z.string()),
})

export function buildRunsCommand(): Command {
  return new Command('runs')
    .summary('The training runs of a server: list, show, set, save, restore, delete')
    .description('The training runs of a server.')
    .addHelpText(
      'after',
      formatExamples(
        'reasoning-gym-server runs list',
        'reasoning-gym-server runs show first',
        'reasoning-gym-server runs set first preset=clean group_size=8 \'tasks=["category:games"]\'',
        'reasoning-gym-server runs delete first',
      ),
    )
    .addCommand(buildRunListCommand())
    .addCommand(buildRunShowCommand())
    .addCommand(buildRunSetCommand())
    .addCommand(buildRunSaveCommand())
    .addCommand(buildRunRestoreCommand())
    .addCommand(buildRunDeleteCommand())
}

function buildRunListCommand(): Command {
  return addServerOptions(new Command('list'))
    .description('All runs: state, groups, rollouts.')
    .option('--json', 'print what the server answers')
    .addHelpText('after', formatExamples('reasoning-gym-server runs list'))
    .action((options: RunsOptions) =>
      withServer(options, { keeps: true }, async (server) => {
        const { runs } = await server.call(z.object({ runs: z.array(RunResponse) }), 'GET', '/runs')
        if (options.json) return printJson({ runs })
        const rows = runs.map(({ run, state, progress }) => [
          run,
          state?.is,
          ...['items', 'groups', 'rollouts', 'buffered_groups'].map((name) =>
            z.number().nullish().catch(null).parse(progress[name]),
          ),
        ])
        await printLine(formatTable(['run', 'state', 'items', 'groups', 'rollouts', 'buffered'], rows))
      }),
    )
}

function buildRunShowCommand(): Command {
  return addServerOptions(new Command('show'))
    .description('A run: its state, progress, settings and tasks.')
    .argument('<run>', 'name of the run')
    .option('--json', 'print what the server answers')
    .addHelpText('after', formatExamples('reasoning-gym-server runs show first'))
    .action((name: string, options: RunsOptions) =>
      withServer(options, { keeps: true }, async (server) => {
        const run = await server.call(RunResponse, 'GET', getRunPath(name))
        if (options.json) return printJson(run)
        if (run.state) await printLine(`${run.state.is}: ${run.state.why ?? ''}\n`)
        await printLine(formatTable(['progress', ''], formatEntries(run.progress)))
        await printLine(`\n${formatTable(['setting', ''], formatEntries(run.settings))}`)
        const tasks = Object.entries(run.tasks).map(([task, { difficulty, accuracy, groups, mean_reward }]) => [
          ...[task, difficulty, accuracy],
          ...[groups, mean_reward],
        ])
        if (tasks.length > 0)
          await printLine(`\n${formatTable(['task', 'difficulty', 'accuracy', 'groups', 'mean reward'], tasks)}`)
      }),
    )
}

function buildRunSetCommand(): Command {
  return addServerOptions(new Command('set'))
    .description('Make a run, or change its settings. Values are JSON, or plain text; null restores the default.')
    .argument('<run>', 'name of the run')
    .argument('[settings...]', 'name=value')
    .option('--restart', 'allow a change that begins the sequence of items anew (seed, tasks)')
    .option('--json', 'print what the server answers')
    .addHelpText(
      'after',
      formatExamples(
        'reasoning-gym-server runs set first preset=clean complexity_mode=curriculum',
        'reasoning-gym-server runs set first \'tasks=["category:games"]\' --restart',
      ),
    )
    .action((name: string, settings: string[], options: RunsOptions) =>
      withServer(options, { keeps: true }, async (server) => {
        const body = Object.fromEntries(settings.map(parseSetting))
        const run = await server.call(
          RunChangeResponse,
          'PUT',
          `${getRunPath(name)}${options.restart ? '?restart=true' : ''}`,
          body,
        )
        if (options.json) return printJson(run)
        await printLine(run.changed.length === 0 ? 'Nothing changed' : `Changed: ${run.changed.join(', ')}`)
        if (run.restarts.length > 0) await printLine(`The sequence of items begins anew: ${run.restarts.join(', ')}`)
      }),
    )
}

function buildRunDeleteCommand(): Command {
  return addServerOptions(new Command('delete'))
    .description('Forget a run and what it holds; its dump files stay.')
    .argument('<run>', 'name of the run')
    .addHelpText('after', formatExamples('reasoning-gym-server runs delete first'))
    .action((name: string, options: RunsOptions) =>
      withServer(options, { keeps: true }, async (server) => {
        await server.request('DELETE', getRunPath(name))
        await printLine(`The run ${name} is forgotten`)
      }),
    )
}

function getRunPath(run: string): string {
  return `/runs/${encodeURIComponent(run)}`
}

function formatEntries(values: Record<string, unknown>): [string, string][] {
  return Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? truncateToFirstLine(value) : JSON.stringify(value),
  ])
}

function truncateToFirstLine(text: string): string {
  return text.length > 60 || text.includes('\n') ? `${text.split('\n')[0]?.slice(0, 60)} …` : text
}

function parseSetting(text: string): [string, unknown] {
  const at = text.indexOf('=')
  if (at < 1) throw new CliError(`${text}: write settings as name=value`, { exitCode: 2 })
  const value = text.slice(at + 1)
  try {
    return [text.slice(0, at), JSON.parse(value)]
  } catch {
    return [text.slice(0, at), value]
  }
}
