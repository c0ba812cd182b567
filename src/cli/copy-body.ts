/** An answer of any size to stdout: as it comes, at the pace of the reader. */
import { Failure } from './failure.ts'
import { interruption } from './interrupt.ts'
import { print } from './output.ts'

export async function copyBody({ body }: Response): Promise<void> {
  const decoder = new TextDecoder()
  try {
    for await (const chunk of body ?? []) await print(decoder.decode(chunk, { stream: true }))
  } catch (cause) {
    interruption().throwIfAborted()
    throw new Failure('The server broke off: what was printed is not whole', { cause })
  }
}
