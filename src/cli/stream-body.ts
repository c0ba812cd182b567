/** An answer of any size to stdout: as it comes, at the pace of the reader. */
import { CliError } from './cli-error.ts'
import { getInterruptSignal } from './interrupt-signal.ts'
import { print } from './output.ts'

export async function streamBodyToStdout({ body }: Response): Promise<void> {
  const decoder = new TextDecoder()
  try {
    for await (const chunk of body ?? []) await print(decoder.decode(chunk, { stream: true }))
  } catch (cause) {
    getInterruptSignal().throwIfAborted()
    throw new CliError('The server broke off: what was printed is not whole', { cause })
  }
}
