/** `runs`: the training runs of a server: list, show, set, delete. */
import { Command } from 'commander'
import { z } from 'zod'
import { Failure } from './failure.ts'
import { examples } from './options.ts'
import { printJson, printLine } from './output.ts'
import { restoreRun, saveRun } from './run-checkpoints.ts'
import { addServerOptions, type ServerOptions, withServer } from './server.ts'
import { tableOf } from './table.ts'

interface Options extends ServerOptions {
  json?: true
  restart?: true
}

const Task = z.looseObject({
  difficulty: z.number().nullish(),
  accuracy: z.number().nullish(),
  groups: z.number().nullish(),
  mean_reward: z.number().nullish(),
})
const Run = z.looseObject({
  run: z.string(),
  settings: z.record(z.string(), z.unknown()),
  state: z.looseObject({ is: z.string(), why: z.string().optional() }).optional(),
  progress: z.record(z.string(), z.unknown()),
  tasks: z.record(z.string(), Task).default({}),
})
const Changed = z.looseObject({ run: z.string(), changed: z.array(z.string()), restarts: z.array(z.string()) })

export function runs(): Command {
  return new Command('runs')
    .summary('The training runs of a server: list, show, set, save, restore, delete')
    .description('The training runs of a server.')
    .addHelpText(
      'after',
      examples(
        'reasoning-gym-server runs list',
        'reasoning-gym-server runs show first',
        'reasoning-gym-server runs set first preset=clean group_size=8 \'tasks=["category:games"]\'',
        'reasoning-gym-server runs delete first',
      ),
    )
    .addCommand(list())
    .addCommand(show())
    .addCommand(set())
    .addCommand(saveRun())
    .addCommand(restoreRun())
    .addCommand(remove())
}

function list(): Command {
  return addServerOptions(new Command('list'))
    .description('All runs: state, groups, rollouts.')
    .option('--json', 'print what the server answers')
    .addHelpText('after', examples('reasoning-gym-server runs list'))
    .action((options: Options) =>
      withServer(options, { keeps: true }, async (server) => {
        const { runs } = await server.call(z.object({ runs: z.array(Run) }), 'GET', '/runs')
        if (options.json) return printJson({ runs })
        const rows = runs.map(({ run, state, progress }) => [
          run,
          state?.is,
          ...['items', 'groups', 'rollouts', 'buffered_groups'].map((name) =>
            z.number().nullish().catch(null).parse(progress[name]),
          ),
        ])
        await printLine(tableOf(['run', 'state', 'items', 'groups', 'rollouts', 'buffered'], rows))
      }),
    )
}

function show(): Command {
  return addServerOptions(new Command('show'))
    .description('A run: its state, progress, settings and tasks.')
    .argument('<run>', 'name of the run')
    .option('--json', 'print what the server answers')
    .addHelpText('after', examples('reasoning-gym-server runs show first'))
    .action((name: string, options: Options) =>
      withServer(options, { keeps: true }, async (server) => {
        const run = await server.call(Run, 'GET', pathOf(name))
        if (options.json) return printJson(run)
        if (run.state) await printLine(`${run.state.is}: ${run.state.why ?? ''}\n`)
        await printLine(tableOf(['progress', ''], pairs(run.progress)))
        await printLine(`\n${tableOf(['setting', ''], pairs(run.settings))}`)
        const tasks = Object.entries(run.tasks).map(([task, { difficulty, accuracy, groups, mean_reward }]) => [
          ...[task, difficulty, accuracy],
          ...[groups, mean_reward],
        ])
        if (tasks.length > 0)
          await printLine(`\n${tableOf(['task', 'difficulty', 'accuracy', 'groups', 'mean reward'], tasks)}`)
      }),
    )
}

function set(): Command {
  return addServerOptions(new Command('set'))
    .description('Make a run, or change its settings. Values are JSON, or plain text; null restores the default.')
    .argument('<run>', 'name of the run')
    .argument('[settings...]', 'name=value')
    .option('--restart', 'allow a change that begins the sequence of items anew (seed, tasks)')
    .option('--json', 'print what the server answers')
    .addHelpText(
      'after',
      examples(
        'reasoning-gym-server runs set first preset=clean complexity_mode=curriculum',
        'reasoning-gym-server runs set first \'tasks=["category:games"]\' --restart',
      ),
    )
    .action((name: string, settings: string[], options: Options) =>
      withServer(options, { keeps: true }, async (server) => {
        const body = Object.fromEntries(settings.map(settingOf))
        const run = await server.call(Changed, 'PUT', `${pathOf(name)}${options.restart ? '?restart=true' : ''}`, body)
        if (options.json) return printJson(run)
        await printLine(run.changed.length === 0 ? 'Nothing changed' : `Changed: ${run.changed.join(', ')}`)
        if (run.restarts.length > 0) await printLine(`The sequence of items begins anew: ${run.restarts.join(', ')}`)
      }),
    )
}

function remove(): Command {
  return addServerOptions(new Command('delete'))
    .description('Forget a run and what it holds; its dump files stay.')
    .argument('<run>', 'name of the run')
    .addHelpText('after', examples('reasoning-gym-server runs delete first'))
    .action((name: string, options: Options) =>
      withServer(options, { keeps: true }, async (server) => {
        await server.open('DELETE', pathOf(name))
        await printLine(`The run ${name} is forgotten`)
      }),
    )
}

function pathOf(run: string): string {
  return `/runs/${encodeURIComponent(run)}`
}

function pairs(values: Record<string, unknown>): [string, string][] {
  return Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? firstLine(value) : JSON.stringify(value),
  ])
}

function firstLine(text: string): string {
  return text.length > 60 || text.includes('\n') ? `${text.split('\n')[0]?.slice(0, 60)} …` : text
}

function settingOf(text: string): [string, unknown] {
  const at = text.indexOf('=')
  if (at < 1) throw new Failure(`${text}: write settings as name=value`, { exitCode: 2 })
  const value = text.slice(at + 1)
  try {
    return [text.slice(0, at), JSON.parse(value)]
  } catch {
    return [text.slice(0, at), value]
  }
}
