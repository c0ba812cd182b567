/** Output of the commands: results go to stdout, with backpressure, and everything else to stderr. */
import { once } from 'node:events'

/** Writes to stdout and waits while the reader is slower. */
export async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

export function printLine(text = ''): Promise<void> {
  return print(`${text}\n`)
}

export function printJson(value: unknown): Promise<void> {
  return printLine(JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined))
}

/** Prints progress and notes to stderr. */
export function printStatus(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Exits with code 0 when the reader of stdout closes the pipe, as `| head` does. */
export function exitOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
}
