/** Lines of JSON from a file or from stdin, as they come. */
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { readLines } from '../codec/json-lines.ts'
import { CliError } from './cli-error.ts'

/** The values in order, blank lines left out. Throws a Failure that names the line which cannot be read. */
export async function* readJsonLines(file: string | undefined): AsyncGenerator<{ line: number; value: unknown }> {
  const name = file === undefined || file === '-' ? 'stdin' : file
  const input = name === 'stdin' ? process.stdin : createReadStream(name)
  const failed = new Promise<never>((_, reject) => input.once('error', reject))
  failed.catch(() => {}) // told below
  const stream = name.endsWith('.gz') ? input.pipe(createGunzip()) : input
  const lines = readLines(stream)
  for (let line = 1; ; line++) {
    const next = await Promise.race([lines.next(), failed]).catch((cause: unknown) => {
      throw new CliError(`${name} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    })
    if (next.done) return
    if (next.value.trim() === '') continue
    yield { line, value: parseJsonLine(next.value, `${name}, line ${line}`) }
  }
}

function parseJsonLine(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new CliError(`${where}: this is not JSON`, { cause })
  }
}
