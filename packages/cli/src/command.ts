/** What a command of the program is, what the program gives it, and how its help looks. */
import { type Argument, Command, Option } from 'commander'
import type { ApiClient } from './api-client.ts'
import { heading, nameProgram, printError } from './output.ts'
import type { WithServer } from './with-server.ts'

/** A command with the parts that most commands have. */
export class CliCommand extends Command {
  /** Ends the help with examples and the exit codes. */
  examples(examples: string[], exitCodes = EXIT_CODES): this {
    return this.addHelpText('after', formatHelpFooter({ examples, exitCodes }))
  }

  /**
   * Runs the command with a server, which the server options select: `use` gets the server, the arguments and the options.
   * `keeps`: whether later commands find the data of a server that is started for this one.
   */
  callServer<Args extends unknown[]>(
    withServer: WithServer,
    use: (server: ApiClient, ...args: Args) => Promise<void>,
    { keeps = true } = {},
  ): this {
    // commander passes the arguments, then the options and the command
    this.action((...given: unknown[]) =>
      withServer(this.opts(), { keeps }, (server) => use(server, ...(given.slice(0, -1) as Args))),
    )
    return this.addServerOptions()
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
}

const MAX_HELP_WIDTH = 100

/** Sets the layout of the help. Commands that are added to this one inherit it. */
export function configureHelp(command: Command): Command {
  return command
    .configureHelp({
      showGlobalOptions: false,
      subcommandTerm: formatUsage,
      styleTitle: (text) => heading(text),
      styleCommandText: (text) => heading(text),
    })
    .configureOutput({
      writeOut: (text) => process.stdout.write(nameProgram(text)),
      getOutHelpWidth: () => Math.min(MAX_HELP_WIDTH, process.stdout.columns ?? MAX_HELP_WIDTH),
      outputError: (text) => {
        const [first = '', ...more] = text.trimEnd().split('\n')
        printError([first.replace(/^error: /, ''), ...more].join('\n'))
      },
    })
}

/** A command with its arguments, for a list of commands. */
function formatUsage(command: Command): string {
  return [command.name(), ...command.registeredArguments.map(formatArgument)].join(' ')
}

function formatArgument(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${name}>` : `[${name}]`
}

/** The exit codes of a command that calls a server. Commands pass replacements for the codes that they define differently. */
export const EXIT_CODES: Readonly<Record<number, string>> = {
  0: 'success',
  1: 'failure; stderr gives the reason',
  2: 'unknown command or option, or invalid value',
  130: 'interrupted by Ctrl-C or SIGTERM',
}

/** Exit codes of `serve`, `api` and `worker`. */
export const PROCESS_EXIT_CODES: Readonly<Record<number, string>> = {
  0: 'stopped by Ctrl-C or SIGTERM after a clean shutdown',
  1: 'the process could not start; stderr gives the reason',
  2: 'unknown option or invalid value',
}

/** Headings under which `--help` of the program lists its commands. */
export const COMMAND_GROUPS = {
  serve: 'Run a server:',
  explore: 'Explore tasks:',
  score: 'Score:',
  train: 'Train and collect data:',
  evaluate: 'Evaluate models:',
  test: 'Test without a GPU:',
} as const

interface HelpFooter {
  examples: string[]
  exitCodes?: Readonly<Record<number, string>>
}

export function formatHelpFooter({ examples, exitCodes = EXIT_CODES }: HelpFooter): string {
  return [
    '',
    heading('Examples:'),
    ...examples.map((example) => `  ${example}`),
    '',
    heading('Exit codes:'),
    ...Object.entries(exitCodes).map(([code, meaning]) => `  ${code.padEnd(3)}  ${meaning}`),
  ].join('\n')
}
