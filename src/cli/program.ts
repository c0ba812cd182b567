/** The program `reasoning-gym-server`: its commands and its exit codes. */

import { Command, CommanderError } from 'commander'
import { StartupError } from '../main/bootstrap/startup-error.ts'
import { ConfigError } from '../platform/config.ts'
import { VERSION } from '../platform/version.ts'
import { CliError } from './cli-error.ts'
import { buildCollectCommand } from './collect.ts'
import { buildDoctorCommand } from './doctor.ts'
import { buildDuelCommand } from './duel.ts'
import { buildEvalCommand } from './eval.ts'
import { buildExportCommand } from './export.ts'
import { formatHelpFooter } from './help.ts'
import { wasInterrupted } from './interrupt-signal.ts'
import { buildItemCommand } from './item.ts'
import { buildItemsCommand } from './items.ts'
import { buildModelCommand } from './mock-model.ts'
import { exitOnClosedPipe } from './output.ts'
import { buildRunsCommand } from './runs.ts'
import { buildScoreCommand } from './score.ts'
import { buildApiCommand, buildServeCommand, buildWorkerCommand } from './server-commands.ts'
import { buildTasksCommand } from './tasks.ts'

const USAGE_ERROR_EXIT_CODE = 2
const INTERRUPTED_EXIT_CODE = 130

const COMMAND_BUILDERS = [
  buildServeCommand,
  buildApiCommand,
  buildWorkerCommand,
  buildDoctorCommand,
  buildTasksCommand,
  buildItemCommand,
  buildItemsCommand,
  buildScoreCommand,
  buildRunsCommand,
  buildExportCommand,
  buildEvalCommand,
  buildDuelCommand,
  buildCollectCommand,
  buildModelCommand,
]

export function buildProgram(): Command {
  const program = new Command('reasoning-gym-server')
    .description(
      'Serve reasoning puzzles to trainers of language models and score their completions. The commands run the server, call it, and evaluate models against it.',
    )
    .version(VERSION, '-V, --version', 'print the version and exit')
    .helpOption('-h, --help', 'print this help and exit')
    .helpCommand(false)
    .showHelpAfterError('Run the command with --help to see its usage.')
    .configureHelp({ helpWidth: 100, showGlobalOptions: false })
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
  for (const make of COMMAND_BUILDERS) program.addCommand(inheritSettings(make(), program))
  return program
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
    await buildProgram().parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_ERROR_EXIT_CODE // commander has printed the message
    if (wasInterrupted()) return INTERRUPTED_EXIT_CODE
    const known = error instanceof CliError || error instanceof ConfigError || error instanceof StartupError
    console.error(known ? `reasoning-gym-server: ${error.message}` : error)
    return error instanceof CliError ? error.exitCode : 1
  }
}
