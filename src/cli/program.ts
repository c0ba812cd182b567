/** The program `reasoning-gym-server`: its commands and its exit codes. */

import { Command, CommanderError } from 'commander'
import { StartupError } from '../main/bootstrap/startup-error.ts'
import { VERSION } from '../platform/installation.ts'
import { ConfigError } from '../platform/process-env.ts'
import { CliError } from './cli-error.ts'
import { COMMANDS, type CommandEntry } from './commands.ts'
import { configureHelp, formatHelpFooter } from './help.ts'
import { wasInterrupted } from './interrupt-signal.ts'
import { exitOnClosedPipe, printError } from './output.ts'

const USAGE_ERROR_EXIT_CODE = 2
const INTERRUPTED_EXIT_CODE = 130

/** The program with all its commands, or with one command and the names of the others. */
export async function buildProgram(only?: string): Promise<Command> {
  const program = configureHelp(new Command('reasoning-gym-server'))
    .description(
      'Serve reasoning puzzles to trainers of language models and score their completions. The commands run the server, call it, and evaluate models against it.',
    )
    .version(VERSION, '-V, --version', 'print the version and exit')
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
  for (const entry of COMMANDS) {
    const command = only === undefined || only === entry.name ? await entry.load() : createPlaceholder(entry)
    program.addCommand(inheritSettings(command.summary(entry.summary).helpGroup(entry.group), program))
  }
  return program
}

/** Stands for a command in the help of the program, and is never run. */
function createPlaceholder({ name, args = '' }: CommandEntry): Command {
  return new Command(name).arguments(args)
}

/** Copies the settings of the parent, which `addCommand` does not do by itself. */
function inheritSettings(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent).helpOption('-h, --help', 'print this help and exit').helpCommand(false)
  for (const sub of command.commands) inheritSettings(sub, command)
  return command
}

/** Runs one command line; resolves with the exit code. */
export async function runProgram(args: string[]): Promise<number> {
  exitOnClosedPipe()
  try {
    const program = await buildProgram(args.find((word) => !word.startsWith('-')) ?? '')
    await program.parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_ERROR_EXIT_CODE // commander has printed the message
    if (wasInterrupted()) return INTERRUPTED_EXIT_CODE
    const known = error instanceof CliError || error instanceof ConfigError || error instanceof StartupError
    if (known) printError(error.message)
    else console.error(error)
    return error instanceof CliError ? error.exitCode : 1
  }
}
