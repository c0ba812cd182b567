/** How the help of every command looks, and what it ends with: examples and exit codes. */
import type { Argument, Command } from 'commander'
import { printError } from './output.ts'
import { heading } from './style.ts'

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
  shell: 'Set up a shell:',
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
