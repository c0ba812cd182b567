/** Streams a response body of any size to stdout, at the pace of the reader. */
import { CliError } from './cli-error.ts'
import { getInterruptSignal } from './interrupt-signal.ts'
import { print } from './output.ts'

export async function streamBodyToStdout({ body }: Response): Promise<void> {
  const decoder = new TextDecoder()
  try {
    for await (const chunk of body ?? []) await print(decoder.decode(chunk, { stream: true }))
  } catch (cause) {
    getInterruptSignal().throwIfAborted()
    throw new CliError('The server closed the connection early, so the output is incomplete. Run the command again', {
      cause,
    })
  }
}
