/** `runs finish`, `runs archive` and `runs reopen`: say whether a run is still in use. */
import { Command } from 'commander'
import { z } from 'zod'
import { addServerOptions, type ServerOptions, withServer } from './api-client.ts'
import { formatHelpFooter } from './help.ts'
import { printJson, printLine } from './output.ts'

const COMMANDS = [
  {
    name: 'finish',
    lifecycle: 'finished',
    summary: 'Mark a run as finished',
    description: 'Mark a run as finished, so that it never counts as stalled. It is active again when rollouts arrive.',
  },
  {
    name: 'archive',
    lifecycle: 'archived',
    summary: 'Hide a finished run',
    description: 'Mark a run as archived, which hides it from the list of runs. Nothing is deleted.',
  },
  { name: 'reopen', lifecycle: 'active', summary: 'Make a run active again', description: 'Make a run active again.' },
] as const

export function buildRunLifecycleCommands(): Command[] {
  return COMMANDS.map(({ name, lifecycle, summary, description }) =>
    addServerOptions(
      new Command(name)
        .summary(summary)
        .description(description)
        .argument('<run>', 'name of the run')
        .option('--json', 'print the server’s JSON response')
        .addHelpText('after', formatHelpFooter({ examples: [`reasoning-gym-server runs ${name} first`] }))
        .action((run: string, options: ServerOptions & { json?: true }) =>
          withServer(options, { keeps: true }, async (server) => {
            const path = `/runs/${encodeURIComponent(run)}`
            const response = await server.call(z.looseObject({ lifecycle: z.string() }), 'PATCH', path, { lifecycle })
            if (options.json) return printJson(response)
            await printLine(`Run ${run} is ${response.lifecycle}`)
          }),
        ),
    ),
  )
}
