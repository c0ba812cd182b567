/** The program `reasoning-gym-server`: how its commands become one command line, and its exit codes. */

import { inspect } from 'node:util'
import { ConfigError } from '@reasoning-gym-server/contract/dot-env'
import { Command, CommanderError } from 'commander'
import { CliError } from './cli-error.ts'
import { type CommandContext, type CommandEntry, configureHelp, formatHelpFooter } from './command.ts'
import { INTERRUPTED_EXIT_CODE, wasInterrupted } from './interrupt-signal.ts'
import { exitOnClosedPipe, printError, printStatus } from './output.ts'
import type { StartServer } from './with-server.ts'

const USAGE_ERROR_EXIT_CODE = 2

/** What the program consists of besides this package. */
export interface ProgramParams {
  version: string
  /** All commands, in the order in which `--help` lists them. */
  commands: readonly CommandEntry[]
  startServer: StartServer
  /** Errors whose message is one line for the user, besides those of this package. */
  knownErrors: readonly (new (
    ...args: never[]
  ) => Error)[]
}

/** The program with all its commands, or with one command and the names of the others. */
export async function createProgram(params: ProgramParams, only?: string): Promise<Command> {
  const program = configureHelp(new Command('reasoning-gym-server'))
    .description(
      'Serve reasoning puzzles to trainers of language models and score their completions. The commands run the server, call it, and evaluate models against it.',
    )
    .version(params.version, '-V, --version', 'print the version and exit')
    .helpOption('-h, --help', 'print this help and exit')
    .helpCommand(false)
    .showHelpAfterError('Run the command with --help to see its usage.')
    .addHelpText(
      'after',
      formatHelpFooter({
        examples: [
          'reasoning-gym-server serve',
          'reasoning-gym-server doctor',
          'reasoning-gym-server tasks leg_counting',
          'reasoning-gym-server items --help',
        ],
      }),
    )
    .enablePositionalOptions() // an option after a subcommand belongs to the subcommand
    .exitOverride()
  const context = createContext(params)
  for (const entry of params.commands) {
    const command = only === undefined || only === entry.name ? await entry.load(context) : createPlaceholder(entry)
    program.addCommand(inheritSettings(command.summary(entry.summary).helpGroup(entry.group), program))
  }
  return program
}

function createContext({ startServer }: ProgramParams): CommandContext {
  return {
    withServer: async (options, requirements, use) => {
      const { callWithServer } = await import('./with-server.ts') // lazy: `--help` calls no server
      return callWithServer(startServer, options, requirements, use)
    },
  }
}

/** Stands for a command in the help of the program, and is never run. */
function createPlaceholder({ name, args = '' }: CommandEntry): Command {
  return args === '' ? new Command(name) : new Command(name).arguments(args)
}

/** Copies the settings of the parent, which `addCommand` does not do by itself. */
function inheritSettings(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent).helpOption('-h, --help', 'print this help and exit').helpCommand(false)
  for (const sub of command.commands) inheritSettings(sub, command)
  return command
}

/** Runs one command line; resolves with the exit code. */
export async function runProgram(params: ProgramParams, args: string[]): Promise<number> {
  exitOnClosedPipe()
  try {
    const program = await createProgram(params, args.find((word) => !word.startsWith('-')) ?? '')
    await program.parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_ERROR_EXIT_CODE // commander has printed the message
    if (wasInterrupted()) return INTERRUPTED_EXIT_CODE
    const isKnown = [CliError, ConfigError, ...params.knownErrors].some((known) => error instanceof known)
    if (error instanceof Error && isKnown) printError(error.message)
    else printStatus(inspect(error))
    return error instanceof CliError ? error.exitCode : 1
  }
}
