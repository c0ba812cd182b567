/** `runs`: lists, shows, changes, saves, restores and deletes training runs. */

import { Command } from 'commander'
import { z } from 'zod'
import { addServerOptions, type ServerOptions, withServer } from './api-client.ts'
import { CliError } from './cli-error.ts'
import { formatHelpFooter } from './help.ts'
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
    .description(
      'Manage the training runs on a server. A run holds the settings, item sequence, curriculum, buffer and statistics of one training run.',
    )
    .addHelpText(
      'after',
      formatHelpFooter({
        examples: [
          'reasoning-gym-server runs list',
          'reasoning-gym-server runs show first',
          'reasoning-gym-server runs set first preset=clean group_size=8 \'tasks=["category:games"]\'',
          'reasoning-gym-server runs delete first',
        ],
      }),
    )
    .addCommand(buildRunListCommand())
    .addCommand(buildRunShowCommand())
    .addCommand(buildRunSetCommand())
    .addCommand(buildRunSaveCommand())
    .addCommand(buildRunRestoreCommand())
    .addCommand(buildRunDeleteCommand())
}

function buildRunListCommand(): Command {
  return addServerOptions(
    new Command('list')
      .summary('List all runs')
      .description('List all runs with their state and the number of items, groups and rollouts.')
      .option('--json', 'print the server’s JSON response')
      .addHelpText('after', formatHelpFooter({ examples: ['reasoning-gym-server runs list'] }))
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
          await printLine(formatTable(['run', 'state', 'items', 'groups', 'rollouts', 'buffered groups'], rows))
        }),
      ),
  )
}

function buildRunShowCommand(): Command {
  return addServerOptions(
    new Command('show')
      .summary('Show one run')
      .description('Show a run’s state, progress and settings, and the statistics of each task.')
      .argument('<run>', 'name of the run')
      .option('--json', 'print the server’s JSON response')
      .addHelpText('after', formatHelpFooter({ examples: ['reasoning-gym-server runs show first'] }))
      .action((name: string, options: RunsOptions) =>
        withServer(options, { keeps: true }, async (server) => {
          const run = await server.call(RunResponse, 'GET', getRunPath(name))
          if (options.json) return printJson(run)
          if (run.state) await printLine(`${run.state.is}: ${run.state.why ?? ''}\n`)
          await printLine(formatTable(['progress', 'value'], formatEntries(run.progress)))
          await printLine(`\n${formatTable(['setting', 'value'], formatEntries(run.settings))}`)
          const tasks = Object.entries(run.tasks).map(([task, { difficulty, accuracy, groups, mean_reward }]) => [
            ...[task, difficulty, accuracy],
            ...[groups, mean_reward],
          ])
          if (tasks.length > 0)
            await printLine(`\n${formatTable(['task', 'difficulty', 'accuracy', 'groups', 'mean reward'], tasks)}`)
        }),
      ),
  )
}

function buildRunSetCommand(): Command {
  return addServerOptions(
    new Command('set')
      .summary('Create a run or change its settings')
      .description(
        'Create a run or change its settings (docs/reference/run-settings.md). The command reads each value as JSON, or as text if it is not valid JSON. null restores the default.',
      )
      .argument('<run>', 'name of the run')
      .argument('[settings...]', 'settings to change, each as name=value')
      .option('--restart', 'allow changes that restart the item sequence, such as seed and tasks')
      .option('--json', 'print the server’s JSON response')
      .addHelpText(
        'after',
        formatHelpFooter({
          examples: [
            'reasoning-gym-server runs set first preset=clean complexity_mode=curriculum',
            'reasoning-gym-server runs set first \'tasks=["category:games"]\' --restart',
          ],
        }),
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
          await printLine(run.changed.length === 0 ? 'No setting changed' : `Changed: ${run.changed.join(', ')}`)
          if (run.restarts.length > 0)
            await printLine(`The item sequence restarted because of: ${run.restarts.join(', ')}`)
        }),
      ),
  )
}

function buildRunDeleteCommand(): Command {
  return addServerOptions(
    new Command('delete')
      .summary('Delete a run')
      .description('Delete a run and everything that the server holds for it. The run’s dump files remain.')
      .argument('<run>', 'name of the run')
      .addHelpText('after', formatHelpFooter({ examples: ['reasoning-gym-server runs delete first'] }))
      .action((name: string, options: RunsOptions) =>
        withServer(options, { keeps: true }, async (server) => {
          await server.request('DELETE', getRunPath(name))
          await printLine(`Deleted run ${name}`)
        }),
      ),
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
  if (at < 1) throw new CliError(`Cannot read "${text}": write each setting as name=value`, { exitCode: 2 })
  const value = text.slice(at + 1)
  try {
    return [text.slice(0, at), JSON.parse(value)]
  } catch {
    return [text.slice(0, at), value]
  }
}
