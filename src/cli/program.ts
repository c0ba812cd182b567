/** The command `reasoning-gym-server`: all its commands, and how it ends. */
import { Command, CommanderError } from 'commander'
import { ConfigError } from '../config.ts'
import { PrepareError } from '../prepare/prepare-error.ts'
import { VERSION } from '../version.ts'
import { collect } from './collect.ts'
import { doctor } from './doctor.ts'
import { evals } from './eval.ts'
import { exportRun } from './export.ts'
import { Failure } from './failure.ts'
import { wasInterrupted } from './interrupt.ts'
import { item } from './item.ts'
import { items } from './items.ts'
import { model } from './model.ts'
import { examples } from './options.ts'
import { endWithReader } from './output.ts'
import { api, serve, worker } from './roles.ts'
import { runs } from './runs.ts'
import { score } from './score.ts'
import { tasks } from './tasks.ts'

const WRONG_USAGE = 2
const INTERRUPTED = 130

const COMMANDS = [serve, api, worker, doctor, tasks, item, items, score, runs, exportRun, evals, collect, model]

export function buildProgram(): Command {
  const program = new Command('reasoning-gym-server')
    .description('The ReasoningGym environment as an HTTP service: serve it, look at it, measure models with it.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .showHelpAfterError('Try it with --help.')
    .configureHelp({ helpWidth: 100, showGlobalOptions: false })
    .addHelpText(
      'after',
      examples(
        'reasoning-gym-server serve',
        'reasoning-gym-server doctor',
        'reasoning-gym-server tasks leg_counting',
        'reasoning-gym-server items --help',
      ),
    )
    .enablePositionalOptions() // options after a subcommand are its own
    .exitOverride()
  for (const make of COMMANDS) program.addCommand(withSettings(make(), program))
  return program
}

/** Commands that are added do not take over what their parent was told. */
function withSettings(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent).helpOption('-h, --help', 'print this help').helpCommand(false)
  for (const sub of command.commands) withSettings(sub, command)
  return command
}

/** Runs one command line; resolves with the exit code. */
export async function runProgram(args: string[]): Promise<number> {
  endWithReader()
  try {
    await buildProgram().parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE // told already
    if (wasInterrupted()) return INTERRUPTED
    const known = error instanceof Failure || error instanceof ConfigError || error instanceof PrepareError
    console.error(known ? `reasoning-gym-server: ${error.message}` : error)
    return error instanceof Failure ? error.exitCode : 1
  }
}
