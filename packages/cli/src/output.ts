/**
 * Output of the commands: results go to stdout, with backpressure, and everything else to stderr. Colors are for streams that
 * show them. Names and messages from servers cannot control the terminal: everything is written here, and control characters
 * are replaced on the way.
 */
import { once } from 'node:events'
import { stripVTControlCharacters, styleText } from 'node:util'
import { CliError } from './cli-error.ts'
import { getInterruptSignal } from './interrupt-signal.ts'

const ESCAPE = '\u001B'
/** The styles that this file itself writes, and any other control character, also of the direction of text. */
const STYLE_OR_CONTROL = new RegExp(
  `${ESCAPE}\\[(?:1|2|4|22|24|31|32|33|36|39)m|(?![\\n\\t])[\\p{Cc}\\u202A-\\u202E\\u2066-\\u2069]`,
  'gu',
)

/** Replaces control characters, except for line breaks, tabs and the styles of this file. */
export function replaceControls(text: string): string {
  return text.replace(STYLE_OR_CONTROL, (found) => (found.length > 1 ? found : '\uFFFD'))
}

/** Writes to stdout and waits while the reader is slower. */
export function print(text: string): Promise<void> {
  return write(replaceControls(text))
}

async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** Streams a response body of any size to stdout, at the pace of the reader. A file or a pipe gets it unchanged. */
export async function streamBodyToStdout({ body }: Response): Promise<void> {
  const decoder = new TextDecoder()
  const show = process.stdout.isTTY ? print : write
  try {
    for await (const chunk of body ?? []) await show(decoder.decode(chunk, { stream: true }))
  } catch (cause) {
    getInterruptSignal().throwIfAborted()
    throw new CliError('The server closed the connection early, so the output is incomplete. Run the command again', {
      cause,
    })
  }
}

export function printLine(text = ''): Promise<void> {
  return print(`${text}\n`)
}

/** JSON.stringify escapes only some control characters. */
const UNESCAPED_BY_JSON = /(?!\n)[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu

export function printJson(value: unknown): Promise<void> {
  const json = JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined)
  return printLine(json.replace(UNESCAPED_BY_JSON, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`))
}

/** npm and npx, which run the program in a clone, set the variable. There, no shell finds the program by its name. */
export const INVOCATION = process.env.npm_command === undefined ? 'reasoning-gym-server' : 'npx reasoning-gym-server'

/** Replaces commands of this program by what the user can call. */
export function nameProgram(text: string): string {
  return text.replace(/(?<!npx |\ba )\breasoning-gym-server (?=[a-z])/g, `${INVOCATION} `)
}

/** Prints progress and notes to stderr. */
export function printStatus(text: string): void {
  process.stderr.write(`${replaceControls(nameProgram(text))}\n`)
}

/** Prints the one line that an error has. */
export function printError(message: string): void {
  printStatus(`${paint('reasoning-gym-server:', 'bad', process.stderr)} ${message}`)
}

interface Server {
  url: string
  isTemporary: boolean
  /** The server options that the user gave, as another command takes them. */
  options?: string
}

interface NextStep {
  /** Page of the dashboard that shows more, such as `/runs/NAME`. */
  page?: string
  /** Command that usually comes next. */
  next?: string
}

/** Prints to stderr where to see more and what to do next. A temporary server has no dashboard that one could open. */
export function printNext({ url, isTemporary, options = '' }: Server, { page, next }: NextStep): void {
  const label = (text: string) => muted(text, process.stderr)
  const lines = [
    ...(page === undefined || isTemporary ? [] : [`${label('Open')}  ${link(`${url}/#${page}`, process.stderr)}`]),
    ...(next === undefined ? [] : [`${label('Next')}  ${next.replace(/(?= > )|$/, options)}`]),
  ]
  if (lines.length > 0) printStatus(`\n${lines.join('\n')}`)
}

/** Exits with code 0 when the reader of stdout closes the pipe, as `| head` does. */
export function exitOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
}

export type Tone = 'good' | 'warn' | 'bad' | 'muted'

const COLORS = { good: 'green', warn: 'yellow', bad: 'red', muted: 'dim' } as const

export function paint(text: string, tone: Tone | undefined, stream: NodeJS.WriteStream = process.stdout): string {
  return tone === undefined || text === '' ? text : styleText(COLORS[tone], text, { stream })
}

export function heading(text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText('bold', text, { stream })
}

export function muted(text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return paint(text, 'muted', stream)
}

export function link(url: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(['cyan', 'underline'], url, { stream })
}

/** Number of characters that a terminal shows. */
export function measureWidth(text: string): number {
  return [...stripVTControlCharacters(text)].length
}
