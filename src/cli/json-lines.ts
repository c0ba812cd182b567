/** Reads JSON Lines from a file or from stdin as a stream. */
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { readLines } from '@reasoning-gym-server/codec/json-lines'
import { CliError } from './cli-error.ts'

/** Yields the values in order and skips blank lines. Throws a CliError that names the first line that is not JSON. */
export async function* readJsonLines(file: string | undefined): AsyncGenerator<{ line: number; value: unknown }> {
  const name = file === undefined || file === '-' ? 'stdin' : file
  const input = name === 'stdin' ? process.stdin : createReadStream(name)
  const failed = new Promise<never>((_, reject) => input.once('error', reject))
  failed.catch(() => {}) // reported below
  const stream = name.endsWith('.gz') ? input.pipe(createGunzip()) : input
  const lines = readLines(stream)
  for (let line = 1; ; line++) {
    const next = await Promise.race([lines.next(), failed]).catch((cause: unknown) => {
      throw new CliError(`Cannot read ${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
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
    throw new CliError(`${where} is not valid JSON`, { cause })
  }
}
