/** What the help of every command ends with: examples and exit codes. */

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
    'Examples:',
    ...examples.map((example) => `  ${example}`),
    '',
    'Exit codes:',
    ...Object.entries(exitCodes).map(([code, meaning]) => `  ${code.padEnd(3)}  ${meaning}`),
  ].join('\n')
}
