/** The command `reasoning-gym-server`: all its commands, and how it ends. */
import { Command, CommanderError } from 'commander'
import { ConfigError } from '../config.ts'
import { PrepareError } from '../prepare/prepare-error.ts'
import { VERSION } from '../version.ts'
import { Failure } from './failure.ts'
import { model } from './model.ts'

const WRONG_USAGE = 2

export function buildProgram(): Command {
  const program = new Command('reasoning-gym-server')
    .description('The ReasoningGym environment as an HTTP service: serve it, look at it, measure models with it.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .showHelpAfterError('Try it with --help.')
    .configureHelp({ helpWidth: 100, showGlobalOptions: false })
    .exitOverride()
  for (const add of [model])
    program.addCommand(add().helpOption('-h, --help', 'print this help').copyInheritedSettings(program))
  return program
}

/** Runs one command line; resolves with the exit code. */
export async function runProgram(args: string[]): Promise<number> {
  try {
    await buildProgram().parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE // told already
    const known = error instanceof Failure || error instanceof ConfigError || error instanceof PrepareError
    console.error(known ? `reasoning-gym-server: ${error.message}` : error)
    return error instanceof Failure ? error.exitCode : 1
  }
}
