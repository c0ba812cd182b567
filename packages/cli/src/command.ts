/** What a command of the program is, and what the program gives it. */
import { Command, Option } from 'commander'
import { EXIT_CODES, formatHelpFooter } from './help.ts'
import type { WithServer } from './with-server.ts'

/** A command with the parts that most commands have. */
export class CliCommand extends Command {
  /** Ends the help with examples and the exit codes. */
  examples(examples: string[], exitCodes = EXIT_CODES): this {
    return this.addHelpText('after', formatHelpFooter({ examples, exitCodes }))
  }

  /** The options that select the server to call. */
  addServerOptions(): this {
    const url = new Option(
      '--url <url>',
      'URL of the server to call (env: REASONING_GYM_URL; default: the server at HOST:PORT, or a temporary one if none runs there)',
    )
    const key = new Option('--key <key>', 'API key for the server (env: REASONING_GYM_API_KEY)')
    return this.addOption(url.helpGroup('Server options:')).addOption(key.helpGroup('Server options:'))
  }
}

export interface CommandEntry {
  name: string
  /** Positional arguments, as `--help` of the program shows them. */
  args?: string
  summary: string
  group: string
  /** Loads the module of the command, which happens only when the command runs. */
  load: (context: CommandContext) => Promise<Command>
}

export interface CommandContext {
  withServer: WithServer
  /** All commands of the program. */
  commands: readonly CommandEntry[]
  /** The file that Node runs to start the program. */
  entryPoint: string
  /** Names to complete while no server answers. */
  bundledNames: BundledNames
}

export interface BundledNames {
  listTasks: () => string[]
  listSuites: () => { name: string; description: string }[]
}
