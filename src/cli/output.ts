/** What commands print: results to stdout, as fast as they are taken; everything else to stderr. */
import { once } from 'node:events'

/** Writes and waits while the reader is slower; the reader that has enough (`| head`) ends the command. */
export async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

export function printLine(text = ''): Promise<void> {
  return print(`${text}\n`)
}

export function printJson(value: unknown): Promise<void> {
  return printLine(JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined))
}

/** For the user's eye, beside the result. */
export function printStatus(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** A reader that went away is no failure. */
export function exitOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
}
